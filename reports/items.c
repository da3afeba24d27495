/* SPDX-License-Identifier: MIT */
#include "reports/items.h"

#include <string.h>

int item_copy_assertion(const struct json_at *item, cJSON *array, struct error *err)
{
	struct members assertion CLEANUP_MEMBERS = members_new();
	const char *varies = NULL;
	int rc = copy_string(item, "what", &assertion, err);

	rc = rc == 0 ? copy_string(item, "wanted", &assertion, err) : rc;
	rc = rc == 0 ? copy_string(item, "saw", &assertion, err) : rc;
	rc = rc == 0 ? copy_bool(item, "ok", &assertion, err) : rc;
	rc = rc == 0 ? copy_string_or_null(item, "at", &assertion, err) : rc;
	rc = rc == 0 ? json_have_string(item, "varies", &varies, err) : rc;
	if (rc == 0 && varies != NULL) {
		if (strcmp(varies, "saw") != 0 && strcmp(varies, "both") != 0)
			return error_set(err, ERROR_FORMAT, "varies: unknown value");
		member_string(&assertion, "varies", varies);
	}
	return rc == 0 ? members_append(array, members_take(&assertion), err) : rc;
}

static bool item_has_path(const cJSON *array, const char *path)
{
	const cJSON *item = NULL;

	cJSON_ArrayForEach (item, array) {
		if (text_equal(cJSON_GetStringValue(cJSON_GetObjectItem(item, "path")), path))
			return true;
	}
	return false;
}

/* Evidence may be recorded when it is stored and again when the check ends; its path identifies it.
 */
int item_copy_evidence(const struct json_at *item, cJSON *array, struct error *err)
{
	struct members evidence CLEANUP_MEMBERS = members_new();
	const char *path = NULL;
	int rc = copy_string(item, "name", &evidence, err);

	rc = rc == 0 ? copy_string(item, "media", &evidence, err) : rc;
	rc = rc == 0 ? copy_string(item, "path", &evidence, err) : rc;
	rc = rc == 0 ? copy_string(item, "digest", &evidence, err) : rc;
	rc = rc == 0 ? copy_count(item, "bytes", &evidence, err) : rc;
	rc = rc == 0 ? copy_bool(item, "truncated", &evidence, err) : rc;
	rc = rc == 0 ? json_need_string(item, "path", &path, err) : rc;
	if (rc < 0 || item_has_path(array, path))
		return rc;
	return members_append(array, members_take(&evidence), err);
}
