/* SPDX-License-Identifier: MIT */
/* A JSON pointer, a newline, a document: a parsed document must print and parse to itself. */
#include "base/json.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const cJSON *json)
{
	cJSON *again CLEANUP_JSON = NULL;
	char *printed CLEANUP_FREE = json_print(json);
	if (printed != NULL && (json_parse(printed, strlen(printed), &again, NULL) < 0 ||
				!cJSON_Compare(json, again, true)))
		__builtin_trap();
}

/* cJSON_Compare() takes the first of members that share a name, so such documents equal nothing. */
static bool has_duplicate_names(const cJSON *json)
{
	const cJSON *child = NULL;
	cJSON_ArrayForEach (child, json) {
		if (cJSON_IsObject(json) &&
		    cJSON_GetObjectItemCaseSensitive(json, child->string) != child)
			return true;
		if (has_duplicate_names(child))
			return true;
	}
	return false;
}

static void drop_members(cJSON *json, const char *name)
{
	cJSON *next = NULL;
	for (cJSON *child = json->child; child != NULL; child = next) {
		next = child->next;
		if (cJSON_IsObject(json) && strcmp(child->string, name) == 0)
			cJSON_Delete(cJSON_DetachItemViaPointer(json, child));
		else
			drop_members(child, name);
	}
}

/* Dropping from the text and from the tree gives the same. Names with escapes are known only to the
 * tree. */
static void check_drop(const cJSON *json, const char *document, size_t size)
{
	static const char *const names[] = {"a", NULL};
	cJSON *wanted CLEANUP_JSON = cJSON_Duplicate(json, true);
	cJSON *seen CLEANUP_JSON = NULL;
	char *copy CLEANUP_FREE = malloc(size + 1);
	if (memchr(document, '\\', size) != NULL || copy == NULL || wanted == NULL)
		return;
	memcpy(copy, document, size);
	drop_members(wanted, "a");
	if (json_parse(copy, json_drop_members(copy, size, names), &seen, NULL) < 0 ||
	    !cJSON_Compare(wanted, seen, true))
		__builtin_trap();
}

/* Text that is not JSON does not grow either. */
static void drop_any(const char *document, size_t size)
{
	static const char *const names[] = {"a", "b", NULL};
	char *copy CLEANUP_FREE = malloc(size + 1);
	if (copy == NULL)
		return;
	memcpy(copy, document, size);
	if (json_drop_members(copy, size, names) > size)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *json CLEANUP_JSON = NULL;
	struct error err = {0};
	const char *document = (const char *)data;
	const char *newline = size != 0 ? memchr(document, '\n', size) : NULL;
	char *pointer CLEANUP_FREE = NULL;
	int rc = 0;
	if (newline == NULL)
		return 0;
	drop_any(newline + 1, size - (size_t)(newline + 1 - document));
	pointer = strndup(document, (size_t)(newline - document));
	rc = json_parse(newline + 1, size - (size_t)(newline + 1 - document), &json, &err);
	if (rc != err.code || (rc == 0) != (json != NULL) || err.code > 0)
		__builtin_trap();
	if (json == NULL || pointer == NULL)
		return 0;
	(void)json_pointer(json, pointer);
	if (!has_duplicate_names(json)) {
		check_round_trip(json);
		check_drop(json, newline + 1, size - (size_t)(newline + 1 - document));
	}
	return 0;
}
