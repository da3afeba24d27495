/* SPDX-License-Identifier: MIT */
#include "reports/render.h"
#include "reports/view.h"

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
	{"/run/journal/records", "0"},
	{"/run/time/*", "0"},
	{"/run/phases/*/durationMs", "0"},
	{"/run/events/*/atMs", "0"},
	{"/checks/*/time/startedMs", "0"},
	{"/checks/*/time/durationMs", "0"},
	{"/checks/*/time/phasesMs/*", "0"},
	{"/checks/*/evidence/*/digest", ZEROS},
	{"/checks/*/evidence/*/bytes", "0"},
	{"/checks/*/events/*/atMs", "0"},
	{"/predictions/*/launches", "0"},
	{NULL, NULL},
};

/* What is of another type than the value is left as it is. */
static int set_value(cJSON *member, const char *value, struct error *err)
{
	cJSON *fixed CLEANUP_JSON = cJSON_Parse(value);
	if (fixed == NULL)
		return error_memory(err);
	if (cJSON_IsNumber(fixed) && cJSON_IsNumber(member))
		(void)cJSON_SetNumberValue(member, fixed->valuedouble);
	if (cJSON_IsString(fixed) && cJSON_IsString(member) &&
	    cJSON_SetValuestring(member, fixed->valuestring) == NULL)
		return error_memory(err);
	return 0;
}

static int walk(cJSON *node, const struct volatile_member *rule, const char *pointer,
		struct error *err)
{
	size_t size = strcspn(pointer + 1, "/");
	bool every = size == 1 && pointer[1] == '*';
	const char *rest = pointer + 1 + size;
	int rc = 0;
	for (cJSON *child = node->child; rc == 0 && child != NULL; child = child->next) {
		if (!every && (child->string == NULL || strlen(child->string) != size ||
			       strncmp(child->string, pointer + 1, size) != 0))
			continue;
		rc = *rest == '\0' ? set_value(child, rule->value, err)
				   : walk(child, rule, rest, err);
	}
	return rc;
}

/* Replaces the first `old` in a member that is a string. */
static int replace(const cJSON *object, const char *key, const char *old, const char *new,
		   struct error *err)
{
	cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);
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

static char *reason_of(const cJSON *assertion)
{
	return text_format("%s: got %s, expected %s", view_string(assertion, "/what"),
			   view_string(assertion, "/saw"), view_string(assertion, "/wanted"));
}

/* Reasons are made of assertions, those of requirements of the reasons of checks. */
static int fix_assertion(const cJSON *report, const cJSON *check, const cJSON *assertion,
			 struct error *err)
{
	const char *saw = view_string(assertion, "/saw");
	const char *varies = view_string(assertion, "/varies");
	char *old CLEANUP_FREE = reason_of(assertion);
	if (varies[0] == '\0')
		return 0;
	int rc = old != NULL ? replace(assertion, "saw", saw, "*", err) : error_memory(err);
	if (rc == 0 && strcmp(varies, "both") == 0)
		rc = replace(assertion, "wanted", view_string(assertion, "/wanted"), "*", err);
	char *new CLEANUP_FREE = reason_of(assertion);
	if (rc == 0 && new == NULL)
		rc = error_memory(err);
	if (rc != 0 || cJSON_IsTrue(json_pointer(assertion, "/ok")))
		return rc;
	rc = replace(check, "reason", old, new, err);
	json_each (requirement, json_pointer(report, "/requirements")) {
		if (rc == 0)
			rc = replace(requirement, "reason", old, new, err);
	}
	return rc;
}

static int fix_assertions(const cJSON *report, struct error *err)
{
	int rc = 0;
	json_each (check, json_pointer(report, "/checks")) {
		json_each (assertion, json_pointer(check, "/assertions")) {
			if (rc == 0)
				rc = fix_assertion(report, check, assertion, err);
		}
	}
	return rc;
}

/* What earlier runs left, and whoever set the clock, is not of this one. */
static void remove_others_remains(cJSON *report)
{
	static const char *const kinds[] = {"recovered", "restored", "left-behind",
					    REPORT_CLOCK_SET_BACK};
	const cJSON *events = json_pointer(report, "/run/events");
	cJSON *next = NULL;
	for (cJSON *event = events != NULL ? events->child : NULL; event != NULL; event = next) {
		next = event->next;
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			if (strcmp(view_string(event, "/kind"), kinds[i]) != 0)
				continue;
			cJSON_Delete(cJSON_DetachItemViaPointer((cJSON *)(uintptr_t)events, event));
			break;
		}
	}
}

int report_make_reproducible(cJSON *report, struct error *err)
{
	int rc = 0;
	remove_others_remains(report);
	for (const struct volatile_member *rule = volatile_members;
	     rc == 0 && rule->pointer != NULL; rule++)
		rc = walk(report, rule, rule->pointer, err);
	return rc == 0 ? fix_assertions(report, err) : rc;
}
