/* SPDX-License-Identifier: MIT */
#include "reports/reproducible.h"

#include <string.h>

#define EPOCH "\"1970-01-01T00:00:00.000Z\""
#define ZEROS "\"sha256:0000000000000000000000000000000000000000000000000000000000000000\""

const struct volatile_member volatile_members[] = {
	{"/run/id", "\"0\""},
	{"/run/started", EPOCH},
	{"/run/ended", EPOCH},
	{"/run/durationMs", "0"},
	{"/run/abort/atMs", "0"},
	{"/run/journal/digest", ZEROS},
	{"/run/time/*", "0"},
	{"/run/phases/*/durationMs", "0"},
	{"/run/events/*/atMs", "0"},
	{"/checks/*/attempts/*/startedMs", "0"},
	{"/checks/*/attempts/*/durationMs", "0"},
	{"/checks/*/attempts/*/phasesMs/*", "0"},
	{"/checks/*/evidence/*/digest", ZEROS},
	{"/checks/*/evidence/*/bytes", "0"},
	{"/checks/*/events/*/atMs", "0"},
	{NULL, NULL},
};

static int volatile_set(cJSON *parent, cJSON *member, const char *value, struct error *err)
{
	cJSON *fixed CLEANUP_JSON = cJSON_Parse(value);

	/* An object's member keeps its name. */
	if (fixed != NULL && member->string != NULL) {
		fixed->string = strdup(member->string);
		if (fixed->string == NULL)
			return error_memory(err);
	}
	if (fixed == NULL || !cJSON_ReplaceItemViaPointer(parent, member, fixed))
		return error_memory(err);
	(void)STEAL(fixed);
	return 0;
}

static int volatile_walk(cJSON *node, const struct volatile_member *rule, const char *pointer,
			 struct error *err)
{
	size_t size = strcspn(pointer + 1, "/");
	bool every = size == 1 && pointer[1] == '*';
	const char *rest = pointer + 1 + size;
	cJSON *next = NULL;
	int rc = 0;

	for (cJSON *child = node->child; rc == 0 && child != NULL; child = next) {
		next = child->next;
		if (!every && (child->string == NULL || strlen(child->string) != size ||
			       strncmp(child->string, pointer + 1, size) != 0))
			continue;
		rc = *rest == '\0' ? volatile_set(node, child, rule->value, err)
				   : volatile_walk(child, rule, rest, err);
	}
	return rc;
}

/* Replaces the first `old` in a string of the report. */
static int texts_replace(cJSON *node, const char *old, const char *new, struct error *err)
{
	const char *string = cJSON_GetStringValue(node);
	const char *place = string != NULL ? strstr(string, old) : NULL;
	struct text text CLEANUP_TEXT = {0};

	if (place == NULL)
		return 0;
	text_append(&text, string, (size_t)(place - string));
	text_add(&text, new);
	text_add(&text, place + strlen(old));
	return !text.failed && cJSON_SetValuestring(node, text_string(&text)) != NULL
		       ? 0
		       : error_memory(err);
}

/* Reasons are made of assertions, those of requirements of the reasons of checks. */
static int texts_replace_reasons(cJSON *items, const char *old, const char *new, struct error *err)
{
	cJSON *item = NULL;
	int rc = 0;

	cJSON_ArrayForEach (item, items) {
		cJSON *reason = cJSON_GetObjectItemCaseSensitive(item, "reason");

		rc = rc == 0 ? texts_replace(reason, old, new, err) : rc;
	}
	return rc;
}

static char *assertion_reason(const cJSON *assertion)
{
	const char *parts[] = {"what", "saw", "wanted"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		parts[i] =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(assertion, parts[i]));
		if (parts[i] == NULL)
			parts[i] = "";
	}
	return text_format("%s: saw %s, wanted %s", parts[0], parts[1], parts[2]);
}

static int assertion_fix(cJSON *report, cJSON *check, cJSON *assertion, struct error *err)
{
	const char *varies =
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(assertion, "varies"));
	cJSON *saw = cJSON_GetObjectItemCaseSensitive(assertion, "saw");
	cJSON *wanted = cJSON_GetObjectItemCaseSensitive(assertion, "wanted");
	char *old CLEANUP_FREE = NULL;
	char *new CLEANUP_FREE = NULL;
	int rc = 0;

	if (varies == NULL)
		return 0;
	old = assertion_reason(assertion);
	if (cJSON_SetValuestring(saw, "*") == NULL ||
	    (strcmp(varies, "both") == 0 && cJSON_SetValuestring(wanted, "*") == NULL))
		return error_memory(err);
	new = assertion_reason(assertion);
	if (old == NULL || new == NULL)
		return error_memory(err);
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(assertion, "ok")))
		return 0;
	rc = texts_replace(cJSON_GetObjectItemCaseSensitive(check, "reason"), old, new, err);
	rc = rc == 0 ? texts_replace_reasons(cJSON_GetObjectItemCaseSensitive(check, "attempts"),
					     old, new, err)
		     : rc;
	return rc == 0 ? texts_replace_reasons(
				 cJSON_GetObjectItemCaseSensitive(report, "requirements"), old, new,
				 err)
		       : rc;
}

static int assertions_fix(cJSON *report, struct error *err)
{
	cJSON *check = NULL;
	cJSON *assertion = NULL;
	int rc = 0;

	cJSON_ArrayForEach (check, cJSON_GetObjectItemCaseSensitive(report, "checks")) {
		cJSON_ArrayForEach (assertion,
				    cJSON_GetObjectItemCaseSensitive(check, "assertions")) {
			rc = rc == 0 ? assertion_fix(report, check, assertion, err) : rc;
		}
	}
	return rc;
}

int report_make_reproducible(cJSON *report, struct error *err)
{
	int rc = 0;

	for (const struct volatile_member *rule = volatile_members;
	     rc == 0 && rule->pointer != NULL; rule++)
		rc = volatile_walk(report, rule, rule->pointer, err);
	return rc == 0 ? assertions_fix(report, err) : rc;
}
