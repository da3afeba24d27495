/* SPDX-License-Identifier: MIT */
#include "reports/fields.h"

#include <string.h>

static const enum json_type json_types[] = {
	[FIELD_STRING] = JSON_STRING, [FIELD_COUNT] = JSON_NUMBER,  [FIELD_BOOL] = JSON_BOOL,
	[FIELD_WORD] = JSON_STRING,   [FIELD_STRINGS] = JSON_ARRAY, [FIELD_OBJECT] = JSON_OBJECT,
	[FIELD_OBJECTS] = JSON_ARRAY, [FIELD_ANY] = JSON_OBJECT,
};

static bool has_word(const char *const *words, const char *word)
{
	return words != NULL && words[text_position(words, word)] != NULL;
}

static int check_field(const struct json_at *object, const struct field *field, struct error *err)
{
	struct json_at at = {0};
	struct json_at item = {.parent = &at};
	struct text words CLEANUP_TEXT = {0};
	int64_t count = 0;
	int rc = field->presence == FIELD_NEEDED
			 ? json_need(object, field->key, json_types[field->type], &at, err)
			 : json_have(object, field->key, json_types[field->type], &at, err);
	if (rc != 0 || at.node == NULL)
		return rc;

	switch (field->type) {
	case FIELD_COUNT:
		return json_need_int(object, field->key, 0, INT32_MAX, &count, err);
	case FIELD_WORD:
		if (has_word(field->words, at.node->valuestring))
			return 0;
		for (const char *const *word = field->words; *word != NULL; word++)
			text_addf(&words, "%s\"%s\"", word == field->words ? "" : ", ", *word);
		return json_error(&at, err, "expected %s", text_string(&words));
	case FIELD_OBJECT:
		return fields_check(&at, field->fields, NULL, err);
	case FIELD_STRINGS:
		for (item.node = at.node->child; item.node != NULL; item.node = item.node->next) {
			if (!cJSON_IsString(item.node))
				return json_error(&item, err, "expected string");
			item.index++;
		}
		break;
	case FIELD_OBJECTS:
		for (item.node = at.node->child; rc == 0 && item.node != NULL;
		     item.node = item.node->next) {
			rc = fields_check(&item, field->fields, NULL, err);
			item.index++;
		}
		break;
	case FIELD_STRING:
	case FIELD_BOOL:
	case FIELD_ANY:
		break;
	}
	return rc;
}

int fields_check(const struct json_at *object, const struct field *fields, const char *const *also,
		 struct error *err)
{
	const struct field *field = NULL;

	if (!cJSON_IsObject(object->node))
		return json_error(object, err, "expected object");
	for (field = fields; field->key != NULL; field++) {
		int rc = check_field(object, field, err);
		if (rc != 0)
			return rc;
	}

	json_each (member, object->node) {
		struct json_at at = {.node = member, .parent = object, .key = member->string};
		for (field = fields; field->key != NULL; field++) {
			if (strcmp(field->key, member->string) == 0)
				break;
		}
		if (field->key == NULL && !has_word(also, member->string))
			return json_error(&at, err, "unknown member");
	}
	return 0;
}

void fields_copy(const cJSON *object, const struct field *fields, struct members *to)
{
	for (; fields->key != NULL; fields++) {
		const cJSON *member = field_get(object, fields->key);
		struct members inner CLEANUP_MEMBERS = {0};
		if (member != NULL && fields->type == FIELD_OBJECT) {
			inner = members_new();
			fields_copy(member, fields->fields, &inner);
			member_item(to, fields->key, members_take(&inner));
		} else if (member != NULL) {
			member_copy(to, fields->key, member);
		} else if (fields->presence == FIELD_OR_NULL) {
			member_string(to, fields->key, NULL);
		}
	}
}

const cJSON *field_get(const cJSON *object, const char *key)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsNull(member) ? NULL : member;
}

const char *field_string(const cJSON *object, const char *key)
{
	return cJSON_GetStringValue(field_get(object, key));
}

int64_t field_count(const cJSON *object, const char *key)
{
	const cJSON *member = field_get(object, key);
	return member != NULL ? (int64_t)member->valuedouble : 0;
}
