/* SPDX-License-Identifier: MIT */
#include "reports/report_file.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/render.h"
#include "reports/view.h"

#include <string.h>

static int check_schema(const cJSON *report, struct error *err)
{
	static const char family[] = "gpucert-report/";
	const char *schema = view_string(report, "/schema");
	if (strcmp(schema, REPORT_SCHEMA) == 0)
		return 0;
	if (text_starts_with(schema, family))
		return error_set(err, ERROR_UNSUPPORTED,
				 "its schema is %.64s; this gpucert reads %s", schema,
				 REPORT_SCHEMA);
	return error_set(err, ERROR_FORMAT, "not a report of gpucert: /schema is not %s",
			 REPORT_SCHEMA);
}

static int read_json(const char *path, const char *const *without, cJSON **report,
		     struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	cJSON *json CLEANUP_JSON = NULL;
	int rc = file_read(path, JSON_FILE_MAX, &data, &size, err);
	if (rc < 0)
		return rc;
	if (without != NULL)
		size = json_drop_members(data, size, without);
	rc = json_parse(data, size, &json, err);
	if (rc == 0)
		rc = check_schema(json, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	*report = STEAL(json);
	return 0;
}

int report_file_read(const char *path, const char *const *without, cJSON **report,
		     struct error *err)
{
	char *inside CLEANUP_FREE = NULL;
	if (!file_is_directory(path))
		return read_json(path, without, report, err);
	inside = path_join(path, "report.json");
	if (inside == NULL)
		return error_memory(err);
	return file_exists(inside) ? read_json(inside, without, report, err)
				   : report_read_directory(path, report, err);
}
