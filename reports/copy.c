/* SPDX-License-Identifier: MIT */
#include "reports/copy.h"

int copy_string(const struct json_at *from, const char *key, struct members *to, struct error *err)
{
	const char *string = NULL;
	int rc = json_need_string(from, key, &string, err);

	if (rc == 0)
		member_string(to, key, string);
	return rc;
}

int copy_string_or_null(const struct json_at *from, const char *key, struct members *to,
			struct error *err)
{
	const char *string = NULL;
	int rc = json_have_string(from, key, &string, err);

	if (rc == 0)
		member_string(to, key, string);
	return rc;
}

int copy_count(const struct json_at *from, const char *key, struct members *to, struct error *err)
{
	int64_t value = 0;
	int rc = json_need_int(from, key, 0, INT64_MAX, &value, err);

	if (rc == 0)
		member_int(to, key, value);
	return rc;
}

int copy_bool(const struct json_at *from, const char *key, struct members *to, struct error *err)
{
	bool value = false;
	int rc = json_need_bool(from, key, &value, err);

	if (rc == 0)
		member_bool(to, key, value);
	return rc;
}

int copy_items(const struct json_at *from, const char *key, copy_item_fn *copy_item, cJSON *array,
	       struct error *err)
{
	struct json_at items = {0};
	size_t index = 0;
	const cJSON *node = NULL;
	int rc = json_have(from, key, JSON_ARRAY, &items, err);

	if (rc < 0)
		return rc;
	cJSON_ArrayForEach (node, items.node) {
		struct json_at item = {.node = node, .parent = &items, .index = index};

		rc = copy_item(&item, array, err);
		if (rc < 0)
			return rc;
		index++;
	}
	return 0;
}

int copy_array(const struct json_at *from, const char *key, copy_item_fn *copy_item,
	       struct members *to, struct error *err)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();
	int rc = array != NULL ? 0 : error_memory(err);

	rc = rc == 0 ? copy_items(from, key, copy_item, array, err) : rc;
	if (rc == 0)
		member_item(to, key, STEAL(array));
	return rc;
}

int copy_string_item(const struct json_at *item, cJSON *array, struct error *err)
{
	if (!cJSON_IsString(item->node))
		return json_error(item, err, "expected string");
	return members_append(array, cJSON_CreateString(item->node->valuestring), err);
}
