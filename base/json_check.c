/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/text_index.h"

#include <string.h>

int json_check_values(const char *data, size_t size, struct error *err)
{
	size_t values = 0;
	for (size_t i = 0; i < size; i++)
		values += data[i] == ',' || data[i] == '[' || data[i] == '{';
	if (values <= JSON_VALUES_MAX)
		return 0;
	return error_set(err, ERROR_LIMIT, "holds more than %d values", (int)JSON_VALUES_MAX);
}

static int repeated(const struct json_at *object, const cJSON *member, struct error *err)
{
	const struct json_at at = {.node = member, .parent = object, .key = member->string};
	return json_error(&at, err, "appears twice");
}

static int check_members(const struct json_at *object, struct error *err)
{
	enum { FEW = 32 };
	if (json_count(object) > FEW) {
		struct text_index names CLEANUP_TEXT_INDEX = {0};
		size_t number = 0;
		json_each (member, object->node) {
			if (text_index_put(&names, member->string, number) != number)
				return repeated(object, member, err);
			number++;
		}
		return 0;
	}
	json_each (member, object->node) {
		for (const cJSON *other = member->next; other != NULL; other = other->next) {
			if (strcmp(member->string, other->string) == 0)
				return repeated(object, other, err);
		}
	}
	return 0;
}

int json_check_names(const struct json_at *document, struct error *err)
{
	struct json_at at = {.parent = document};
	int rc = cJSON_IsObject(document->node) ? check_members(document, err) : 0;
	json_each (child, document->node) {
		at.node = child;
		at.key = child->string;
		if (rc == 0 && child->child != NULL)
			rc = json_check_names(&at, err);
		at.index++;
	}
	return rc;
}

int json_parse_strict(const char *data, size_t size, cJSON **out, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	int rc = json_check_values(data, size, err);
	if (rc == 0)
		rc = json_parse(data, size, &json, err);
	const struct json_at root = json_root(json);
	if (rc == 0)
		rc = json_check_names(&root, err);
	if (rc == 0)
		*out = STEAL(json);
	return rc;
}
