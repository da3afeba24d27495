/* SPDX-License-Identifier: MIT */
#include "reports/report_file.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/render.h"
#include "reports/upgrade/upgrade.h"

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
		rc = schema_upgrade(&report_schema, json, json, err);
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
