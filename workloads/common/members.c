/* SPDX-License-Identifier: MIT */
#include "workloads/common/members.h"

#include "base/json.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct members members_begin(void)
{
	struct members members = {.object = cJSON_CreateObject()};

	members.failed = members.object == NULL;
	return members;
}

cJSON *members_take(struct members *members)
{
	if (members->failed) {
		members_free(members);
		return NULL;
	}
	return STEAL(members->object);
}

void members_free(struct members *members)
{
	cJSON_Delete(members->object);
	members->object = NULL;
}

void member_item(struct members *members, const char *key, cJSON *item)
{
	if (item == NULL || members->failed ||
	    !cJSON_AddItemToObjectCS(members->object, key, item)) {
		cJSON_Delete(item);
		members->failed = true;
	}
}

void member_text(struct members *members, const char *key, const char *array, size_t size)
{
	member_item(members, key, json_new_string(array, strnlen(array, size)));
}

void member_string(struct members *members, const char *key, const char *value)
{
	if (value == NULL)
		member_null(members, key);
	else
		member_item(members, key, json_new_string(value, strlen(value)));
}

void member_optional(struct members *members, const char *key, const char *value)
{
	member_string(members, key, value != NULL && value[0] != '\0' ? value : NULL);
}

void member_number(struct members *members, const char *key, double value)
{
	member_item(members, key, cJSON_CreateNumber(value));
}

void member_bool(struct members *members, const char *key, bool value)
{
	member_item(members, key, cJSON_CreateBool(value));
}

void member_null(struct members *members, const char *key)
{
	member_item(members, key, cJSON_CreateNull());
}

void member_hex(struct members *members, const char *key, uint64_t value, int digits)
{
	member_format(members, key, "0x%0*llx", digits, (unsigned long long)value);
}

void member_bytes(struct members *members, const char *key, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 * 64 + 1] = "";

	for (size_t i = 0; i < size && i < 64; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 0xF];
	}
	member_string(members, key, hex);
}

void member_format(struct members *members, const char *key, const char *format, ...)
{
	struct text text CLEANUP_TEXT = {0};
	va_list args;

	va_start(args, format);
	text_vaddf(&text, format, args);
	va_end(args);
	if (text.failed)
		members->failed = true;
	member_string(members, key, text_string(&text));
}

void member_milliseconds(struct members *members, const char *key, uint64_t nanoseconds)
{
	const uint64_t microseconds = nanoseconds / 1000;

	member_number(members, key, (double)microseconds / 1000.0);
}

bool array_add(cJSON *array, cJSON *item)
{
	if (array != NULL && item != NULL && cJSON_AddItemToArray(array, item))
		return true;
	cJSON_Delete(item);
	return false;
}
