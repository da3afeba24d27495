/* SPDX-License-Identifier: MIT */
#include "base/members.h"

#include <string.h>

enum { BYTES_MAX = 64 };

struct members members_new(void)
{
	cJSON *object = cJSON_CreateObject();
	return (struct members){.object = object, .failed = object == NULL};
}

struct members members_new_array(void)
{
	cJSON *array = cJSON_CreateArray();
	return (struct members){.object = array, .failed = array == NULL};
}

void members_free(struct members *members)
{
	cJSON_Delete(members->object);
	*members = (struct members){.failed = true};
}

cJSON *members_take(struct members *members)
{
	if (members->failed)
		members_free(members);
	return STEAL(members->object);
}

void member_item(struct members *members, const char *key, cJSON *item)
{
	if (members->failed || item == NULL ||
	    !(cJSON_IsArray(members->object) ? cJSON_AddItemToArray(members->object, item)
					     : cJSON_AddItemToObject(members->object, key, item))) {
		cJSON_Delete(item);
		members->failed = true;
	}
}

struct members member_object(struct members *members, const char *key)
{
	cJSON *object = cJSON_CreateObject();
	member_item(members, key, object);
	return (struct members){.object = object};
}

struct members member_array(struct members *members, const char *key)
{
	cJSON *array = cJSON_CreateArray();
	member_item(members, key, array);
	return (struct members){.object = array};
}

void member_string(struct members *members, const char *key, const char *string)
{
	member_item(members, key,
		    string != NULL ? json_new_string(string, strlen(string)) : cJSON_CreateNull());
}

void member_optional(struct members *members, const char *key, const char *string)
{
	member_string(members, key, string != NULL && string[0] != '\0' ? string : NULL);
}

void member_text(struct members *members, const char *key, const char *array, size_t size)
{
	member_item(members, key, json_new_string(array, strnlen(array, size)));
}

void member_cut(struct members *members, const char *key, const char *string, size_t max)
{
	const size_t size = strlen(string);
	const size_t kept = text_fit(string, size, max);
	member_format(members, key, "%.*s%s", (int)kept, string, kept < size ? "..." : "");
}

void member_taken(struct members *members, const char *key, char *string)
{
	member_item(members, key, string != NULL ? json_new_string(string, strlen(string)) : NULL);
	free(string);
}

void member_format(struct members *members, const char *key, const char *format, ...)
{
	struct text text CLEANUP_TEXT = {0};
	text_add_formatted(&text, format);
	member_taken(members, key, text_take(&text));
}

void member_hex(struct members *members, const char *key, uint64_t value, int digits)
{
	member_format(members, key, "0x%0*llx", digits, (unsigned long long)value);
}

void member_bytes(struct members *members, const char *key, const uint8_t *bytes, size_t size)
{
	char hex[2 * BYTES_MAX + 1] = "";
	if (bytes == NULL) {
		member_null(members, key);
		return;
	}
	text_hex(hex, bytes, size < BYTES_MAX ? size : BYTES_MAX);
	member_string(members, key, hex);
}

void member_int(struct members *members, const char *key, int64_t value)
{
	member_number(members, key, (double)value);
}

void member_number(struct members *members, const char *key, double value)
{
	member_item(members, key, cJSON_CreateNumber(value));
}

void member_milliseconds(struct members *members, const char *key, uint64_t nanoseconds)
{
	const uint64_t microseconds = nanoseconds / 1000;
	member_number(members, key, (double)microseconds / 1000.0);
}

void member_bool(struct members *members, const char *key, bool value)
{
	member_item(members, key, cJSON_CreateBool(value));
}

void member_null(struct members *members, const char *key)
{
	member_item(members, key, cJSON_CreateNull());
}

void member_copy(struct members *members, const char *key, const cJSON *value)
{
	member_item(members, key,
		    value != NULL ? cJSON_Duplicate(value, true) : cJSON_CreateArray());
}

void member_strings(struct members *members, const char *key, const char *const *strings)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	for (; strings != NULL && *strings != NULL; strings++)
		member_string(&array, NULL, *strings);
	member_item(members, key, members_take(&array));
}

void array_add(cJSON *array, cJSON *item)
{
	if (!cJSON_AddItemToArray(array, item))
		cJSON_Delete(item);
}
