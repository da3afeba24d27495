/* SPDX-License-Identifier: MIT */
#include "reports/report_file.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/schema.h"
#include "reports/render.h"

int report_parse(char *data, size_t size, const char *const *without, cJSON **report,
		 struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	if (without != NULL)
		size = json_drop_members(data, size, without);
	int rc = json_parse_strict(data, size, &json, err);
	if (rc == 0)
		rc = schema_check(json, REPORT_SCHEMA, err);
	if (rc == 0)
		*report = STEAL(json);
	return rc;
}

static int read_json(const char *path, bool follow, const char *const *without, cJSON **report,
		     struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read_regular(path, follow, JSON_FILE_MAX, &data, &size, err);
	if (rc < 0)
		return rc;
	rc = report_parse(data, size, without, report, err);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

int report_file_read(const char *path, const char *const *without, cJSON **report,
		     struct error *err)
{
	struct file_status status = {0};
	if (!file_is_directory(path))
		return read_json(path, true, without, report, err);
	char *inside CLEANUP_FREE = path_join(path, "report.json");
	int rc = file_status(inside, false, &status, err);
	if (rc == 0)
		return read_json(inside, false, without, report, err);
	if (rc == ERROR_NOT_FOUND)
		rc = report_read_directory(path, report, err);
	return rc == ERROR_NOT_FOUND
		       ? error_set(
				 err, rc,
				 "%s: no report.json is in it, and no journal.ndjson; name the folder of a run",
				 path)
		       : rc;
}

int report_file_open(const char *path, cJSON **report, struct view *view, struct error *err)
{
	int rc = report_file_read(path, NULL, report, err);
	if (rc < 0)
		return rc;
	rc = view_open(*report, view, err);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}
