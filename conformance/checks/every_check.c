/* SPDX-License-Identifier: MIT */
#include "conformance/checks/every_check.h"

#include "base/file.h"
#include "base/members.h"

enum { SHOWN_MAX = 8 };

void every_check_keep(struct check_run *run, const char *file, const char *wrong)
{
	struct error err = {0};
	struct members line CLEANUP_MEMBERS = members_new();
	member_string(&line, "check", check_row(run)->id);
	member_string(&line, "wrong", wrong != NULL ? wrong : "");
	if (json_append_line(check_run_path(run, file), line.object, &err) < 0)
		check_note(run, "%s", err.text);
}

int every_check_judge(struct check_run *run, const char *file, const char *what, const char *wanted)
{
	const char *path = check_run_path(run, file);
	int count = 0;
	int wrong_count = 0;
	cJSON *all CLEANUP_JSON = NULL;
	struct error err = {0};
	if (!file_exists(path))
		return 0;
	int rc = json_read_lines(path, &all, &err);
	if (!check_works(run, rc, file, &err))
		return rc;
	json_each (json, all) {
		const char *wrong = json_pointer_string(json, "/wrong");
		count++;
		if (wrong[0] != '\0' && wrong_count++ < SHOWN_MAX)
			(void)check_expect(run, false, what, wanted, "%s (%s)", wrong,
					   json_pointer_string(json, "/check"));
	}
	if (wrong_count == 0)
		(void)check_expect_varying(run, true, what, wanted, "those of %d checks", count);
	return count;
}
