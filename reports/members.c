/* SPDX-License-Identifier: MIT */
#include "reports/members.h"

#include <string.h>

struct members members_new(void)
{
	cJSON *object = cJSON_CreateObject();

	return (struct members){.object = object, .failed = object == NULL};
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

void members_add(struct members *members, const char *key, cJSON *value)
{
	if (members->failed || value == NULL ||
	    !cJSON_AddItemToObject(members->object, key, value)) {
		cJSON_Delete(value);
		members->failed = true;
	}
}

cJSON *members_new_text(const char *string, size_t max)
{
	struct text cut CLEANUP_TEXT = {0};
	size_t size = strlen(string);

	if (size <= max)
		return json_new_string(string, size);
	/* Back to the start of the character that the limit falls into. */
	size = max;
	while (size > 0 && ((unsigned char)string[size] & 0xc0) == 0x80)
		size--;
	text_append(&cut, string, size);
	text_add(&cut, "...");
	return cut.failed ? NULL : json_new_string(cut.data, cut.size);
}

void members_add_text(struct members *members, const char *key, const char *string, size_t max)
{
	members_add(members, key, members_new_text(string, max));
}

void members_add_string(struct members *members, const char *key, const char *string)
{
	members_add(members, key,
		    string != NULL ? json_new_string(string, strlen(string)) : cJSON_CreateNull());
}

void members_add_taken(struct members *members, const char *key, char *string)
{
	members_add(members, key, string != NULL ? json_new_string(string, strlen(string)) : NULL);
	free(string);
}

void members_add_int(struct members *members, const char *key, int64_t value)
{
	members_add(members, key, cJSON_CreateNumber((double)value));
}

void members_add_number(struct members *members, const char *key, double value)
{
	members_add(members, key, cJSON_CreateNumber(value));
}

void members_add_bool(struct members *members, const char *key, bool value)
{
	members_add(members, key, cJSON_CreateBool(value));
}

void members_add_copy(struct members *members, const char *key, const cJSON *value)
{
	members_add(members, key,
		    value != NULL ? cJSON_Duplicate(value, true) : cJSON_CreateArray());
}

int members_append(cJSON *array, cJSON *item, struct error *err)
{
	if (item != NULL && cJSON_AddItemToArray(array, item))
		return 0;
	cJSON_Delete(item);
	return error_memory(err);
}
