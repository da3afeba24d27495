/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include "base/file.h"
#include "base/path.h"
#include "reports/report_file.h"
#include "reports/view.h"

#include <string.h>
#include <uv.h>

#define PLAN_NAME "plan"

/* A run that proved nothing is repeated, and so is one of another plan. */
static bool has_verdict(const char *folder, const char *plan_file, const char *plan)
{
	cJSON *report CLEANUP_JSON = NULL;
	char *path CLEANUP_FREE = path_join(folder, "report.json");
	char *found CLEANUP_FREE = NULL;
	if (file_read_line(plan_file, &found, NULL) < 0 || !text_equal(found, plan) ||
	    report_file_read(path, NULL, &report, NULL) < 0)
		return false;
	const int64_t code = view_int(report, "/verdict/exitCode");
	return code != REPORT_EXIT_BROKEN && code != REPORT_EXIT_INCOMPLETE;
}

/* With a single rename, so that it is always in exactly one place. */
static int set_aside(const char *folder, struct error *err)
{
	char *parent CLEANUP_FREE = path_directory(folder);
	for (int i = 1; i <= FLEET_EARLIER_MAX; i++) {
		char *kept CLEANUP_FREE =
			text_format("%s/earlier_runs/%d/%s", parent, i, path_base(folder));
		char *made CLEANUP_FREE = path_directory(kept);
		uv_fs_t request = {0};
		if (file_exists(kept))
			continue;
		int rc = file_make_directories(made, 0755, err);
		if (rc < 0)
			return rc;
		rc = uv_fs_rename(NULL, &request, folder, kept, NULL);
		uv_fs_req_cleanup(&request);
		return rc < 0 ? error_uv(err, rc, "%s", kept) : 0;
	}
	return error_set(err, ERROR_LIMIT, "%s/earlier_runs has %d runs already; remove them",
			 parent, (int)FLEET_EARLIER_MAX);
}

int fleet_begin(const char *folder, const char *plan, bool *complete, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *plan_file CLEANUP_FREE = path_join(folder, PLAN_NAME);
	int rc = file_list(folder, &names, err);
	*complete = rc == 0 && has_verdict(folder, plan_file, plan);
	if (*complete)
		return 0;
	if (rc == ERROR_NOT_FOUND)
		rc = 0;
	else if (rc == 0 && (names.count > (file_exists(plan_file) ? 1 : 0)))
		rc = set_aside(folder, err);
	if (rc == 0)
		rc = file_make_directories(folder, 0755, err);
	return rc == 0 ? file_write_atomic(plan_file, plan, strlen(plan), 0644, err) : rc;
}
