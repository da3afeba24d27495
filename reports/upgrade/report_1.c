/* SPDX-License-Identifier: MIT */
#include "reports/upgrade/upgrade.h"

#include <string.h>

struct absent {
	const char *parent; /* JSON pointer */
	const char *key, *json;
};

/* Members that came later, and what they are where nothing is known of them. */
static const struct absent absent_of_report[] = {
	{"", "predictions", "[]"},
	{"/run", "settings", "null"},
	{"/environment", "node", "null"},
	{"/environment", "harness", "null"},
	{"/verdict/conformance", "reason", "\"\""},
	{"/verdict/conformance", "notApplicable", "[]"},
	{"/totals/outcome", "not-applicable", "0"},
	{NULL},
};
static const struct absent absent_of_requirement[] = {{"", "reason", "\"\""}, {NULL}};
static const struct absent absent_of_check[] = {
	{"", "unproven", "null"}, {"", "watched", "null"},	{"", "time", "null"},
	{"", "notes", "[]"},	  {"", "deviceOutcomes", "[]"}, {NULL},
};

static int add_absent(cJSON *object, const struct absent *rows, struct error *err)
{
	for (; rows->key != NULL; rows++) {
		cJSON *parent = (cJSON *)(uintptr_t)json_pointer(object, rows->parent);
		if (!cJSON_IsObject(parent) ||
		    cJSON_GetObjectItemCaseSensitive(parent, rows->key) != NULL)
			continue;
		cJSON *value CLEANUP_JSON = cJSON_Parse(rows->json);
		if (value == NULL || !cJSON_AddItemToObject(parent, rows->key, value))
			return error_memory(err);
		(void)STEAL(value);
	}
	return 0;
}

static int set_string(cJSON *string, const char *value, struct error *err)
{
	return cJSON_SetValuestring(string, value) != NULL ? 0 : error_memory(err);
}

int upgrade_check_1(cJSON *check, struct error *err)
{
	cJSON *variant CLEANUP_JSON = cJSON_DetachItemFromObjectCaseSensitive(check, "variant");
	cJSON *id = cJSON_GetObjectItemCaseSensitive(check, "id");
	cJSON *outcome = cJSON_GetObjectItemCaseSensitive(check, "outcome");
	int rc = 0;
	if (cJSON_IsString(outcome) && strcmp(outcome->valuestring, "skip") == 0)
		rc = set_string(outcome, "unsupported", err);
	if (rc < 0 || !cJSON_IsString(variant) || !cJSON_IsString(id))
		return rc;
	char *name CLEANUP_FREE = text_format("%s@%s", id->valuestring, variant->valuestring);
	return name != NULL ? set_string(id, name, err) : error_memory(err);
}

/* The last of `attempts` becomes `time`. */
static int take_attempts(cJSON *check, struct error *err)
{
	static const char *const of_check[] = {"n", "outcome", "reason"};
	cJSON *attempts CLEANUP_JSON = cJSON_DetachItemFromObjectCaseSensitive(check, "attempts");
	cJSON *last = json_first(attempts) != NULL ? attempts->child->prev : NULL;
	if (!cJSON_IsArray(attempts) || !cJSON_IsObject(last))
		return 0;
	cJSON *time CLEANUP_JSON = cJSON_DetachItemViaPointer(attempts, last);
	for (size_t i = 0; i < ARRAY_SIZE(of_check); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(time, of_check[i]);
	cJSON_DeleteItemFromObjectCaseSensitive(check, "time");
	if (!cJSON_AddItemToObject(check, "time", time))
		return error_memory(err);
	(void)STEAL(time);
	return 0;
}

static int upgrade_check(cJSON *check, struct error *err)
{
	cJSON *disposition = cJSON_GetObjectItemCaseSensitive(check, "disposition");
	int rc = upgrade_check_1(check, err);
	if (rc == 0)
		rc = add_absent(check, absent_of_check, err);
	if (rc == 0)
		rc = take_attempts(check, err);
	if (rc == 0 && cJSON_IsString(disposition) &&
	    strcmp(disposition->valuestring, "flaky") == 0)
		rc = set_string(disposition, "as-expected", err);
	return rc;
}

/* Counts of a word that is gone count with another. */
static void merge_count(const cJSON *report, const char *pointer, const char *gone,
			const char *into)
{
	cJSON *counts = (cJSON *)(uintptr_t)json_pointer(report, pointer);
	cJSON *count CLEANUP_JSON = cJSON_DetachItemFromObjectCaseSensitive(counts, gone);
	cJSON *sum = cJSON_GetObjectItemCaseSensitive(counts, into);
	if (cJSON_IsNumber(count) && cJSON_IsNumber(sum))
		(void)cJSON_SetNumberValue(sum, sum->valuedouble + count->valuedouble);
}

int upgrade_report_1(cJSON *report, struct error *err)
{
	int rc = add_absent(report, absent_of_report, err);
	json_each (check, json_pointer(report, "/checks")) {
		if (rc == 0)
			rc = upgrade_check((cJSON *)(uintptr_t)check, err);
	}
	json_each (requirement, json_pointer(report, "/requirements")) {
		if (rc == 0)
			rc = add_absent((cJSON *)(uintptr_t)requirement, absent_of_requirement,
					err);
	}
	merge_count(report, "/totals/outcome", "skip", "unsupported");
	merge_count(report, "/totals/disposition", "flaky", "as-expected");
	return rc;
}
