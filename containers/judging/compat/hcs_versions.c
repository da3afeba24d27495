/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/hcs_versions.h"

#include "base/json.h"

#include <string.h>

/* The numbers grow by about one a year. */
enum { NUMBER_MAX = 9999, MAJOR_OF_CONTAINERS = 2 };

int hcs_version_compare(struct hcs_version a, struct hcs_version b)
{
	if (a.major != b.major)
		return a.major < b.major ? -1 : 1;
	return (a.minor > b.minor) - (a.minor < b.minor);
}

struct hcs_version hcs_device_since(enum hcs_device device)
{
	return (struct hcs_version){2, device == HCS_DEVICE_CLASS ? 1 : 2};
}

const struct hcs_version *hcs_versions_newest(const struct hcs_versions *versions)
{
	const struct hcs_version *newest = NULL;
	for (size_t i = 0; i < versions->count; i++) {
		if (versions->items[i].major == MAJOR_OF_CONTAINERS)
			newest = &versions->items[i];
	}
	return newest;
}

static int insert(struct hcs_versions *versions, struct hcs_version version, struct error *err)
{
	size_t at = 0;
	while (at < versions->count && hcs_version_compare(versions->items[at], version) < 0)
		at++;
	if (at < versions->count && hcs_version_compare(versions->items[at], version) == 0)
		return 0;
	if (versions->count == HCS_VERSIONS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d schema versions",
				 HCS_VERSIONS_MAX);
	memmove(&versions->items[at + 1], &versions->items[at],
		(versions->count - at) * sizeof(versions->items[0]));
	versions->items[at] = version;
	versions->count++;
	return 0;
}

static bool is_null(const struct json_at *array, size_t index)
{
	return cJSON_IsNull(cJSON_GetArrayItem(array->node, (int)index));
}

static int read_versions(const struct json_at *basic, struct hcs_versions *out, struct error *err)
{
	struct json_at list = {0};
	int rc = json_have(basic, "SupportedSchemaVersions", JSON_ARRAY, &list, err);
	for (size_t i = 0; rc == 0 && i < json_count(&list); i++) {
		struct json_at item = {0};
		int64_t major = 0;
		int64_t minor = 0;
		if (is_null(&list, i))
			continue;
		rc = json_element(&list, i, JSON_OBJECT, &item, err);
		if (rc == 0)
			rc = json_need_int(&item, "Major", 0, NUMBER_MAX, &major, err);
		if (rc == 0)
			rc = json_have_int(&item, "Minor", 0, NUMBER_MAX, &minor, err);
		if (rc == 0)
			rc = insert(out, (struct hcs_version){(unsigned)major, (unsigned)minor},
				    err);
	}
	return rc;
}

int hcs_versions_parse(const char *json, size_t size, struct hcs_versions *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	int rc = json_parse(json, size, &document, err);
	*out = (struct hcs_versions){0};
	if (rc < 0)
		return rc;
	struct json_at root = json_root(document);
	if (!cJSON_IsObject(document))
		return json_error(&root, err, "expected object");

	struct json_at list = {0};
	rc = json_have(&root, "Properties", JSON_ARRAY, &list, err);
	for (size_t i = 0; rc == 0 && i < json_count(&list); i++) {
		struct json_at item = {0};
		if (is_null(&list, i))
			continue;
		rc = json_element(&list, i, JSON_OBJECT, &item, err);
		if (rc == 0)
			rc = read_versions(&item, out, err);
	}

	struct json_at responses = {0};
	struct json_at basic = {0};
	struct json_at response = {0};
	if (rc == 0)
		rc = json_have(&root, "PropertyResponses", JSON_OBJECT, &responses, err);
	if (rc == 0 && responses.node != NULL)
		rc = json_have(&responses, "Basic", JSON_OBJECT, &basic, err);
	if (rc == 0 && basic.node != NULL)
		rc = json_have(&basic, "Response", JSON_OBJECT, &response, err);
	if (rc == 0 && response.node != NULL)
		rc = read_versions(&response, out, err);
	if (rc == 0 && out->count == 0)
		return error_set(err, ERROR_NOT_FOUND, "the answer names no schema version");
	return rc;
}
