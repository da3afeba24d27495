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

/* Members of another type than the value are left as they are. */
static void walk(cJSON *node, const struct volatile_member *rule, const char *pointer)
{
	size_t size = strcspn(pointer + 1, "/");
	bool every = size == 1 && pointer[1] == '*';
	const char *rest = pointer + 1 + size;
	cJSON *fixed CLEANUP_JSON = cJSON_Parse(rule->value);
	for (cJSON *child = node->child; child != NULL; child = child->next) {
		if (!every && (child->string == NULL || strlen(child->string) != size ||
			       strncmp(child->string, pointer + 1, size) != 0))
			continue;
		if (*rest != '\0')
			walk(child, rule, rest);
		else if (cJSON_IsNumber(fixed) && cJSON_IsNumber(child))
			(void)cJSON_SetNumberValue(child, fixed->valuedouble);
		else if (cJSON_IsString(fixed) && cJSON_IsString(child))
			(void)cJSON_SetValuestring(child, fixed->valuestring);
	}
}

/* Replaces the first `old` in a member that is a string. */
static void replace(const cJSON *object, const char *key, const char *old, const char *new)
{
	cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);
	const char *string = cJSON_GetStringValue(node);
	const char *place = string != NULL ? strstr(string, old) : NULL;
	struct text text CLEANUP_TEXT = {0};
	if (place == NULL)
		return;
	text_append(&text, string, (size_t)(place - string));
	text_add(&text, new);
	text_add(&text, place + strlen(old));
	(void)cJSON_SetValuestring(node, text_string(&text));
}

static char *reason_of(const cJSON *assertion)
{
	return text_format("%s: got %s, expected %s", view_string(assertion, "/what"),
			   view_string(assertion, "/saw"), view_string(assertion, "/wanted"));
}

/* Reasons of checks are made from assertions, and those of requirements from the reasons of checks. */
static void fix_assertion(const cJSON *report, const cJSON *check, const cJSON *assertion)
{
	const char *saw = view_string(assertion, "/saw");
	const char *varies = view_string(assertion, "/varies");
	char *old CLEANUP_FREE = reason_of(assertion);
	if (varies[0] == '\0')
		return;
	replace(assertion, "saw", saw, "*");
	if (text_equal(varies, "both"))
		replace(assertion, "wanted", view_string(assertion, "/wanted"), "*");
	char *new CLEANUP_FREE = reason_of(assertion);
	if (json_pointer_true(assertion, "/ok"))
		return;
	replace(check, "reason", old, new);
	json_each (requirement, json_pointer(report, "/requirements"))
		replace(requirement, "reason", old, new);
}

void report_make_reproducible(cJSON *report)
{
	static const char *const kinds[] = {"recovered", "restored", "left-behind",
					    REPORT_CLOCK_SET_BACK, NULL};
	const cJSON *events = json_pointer(report, "/run/events");
	cJSON *next = NULL;

	/* Remains of earlier runs, and changes of the clock, do not belong to this run. */
	for (cJSON *event = events != NULL ? events->child : NULL; event != NULL; event = next) {
		next = event->next;
		if (kinds[text_position(kinds, view_string(event, "/kind"))] != NULL)
			cJSON_Delete(cJSON_DetachItemViaPointer((cJSON *)(uintptr_t)events, event));
	}

	/* A run with overlapping checks has neither. */
	cJSON *time = (cJSON *)(uintptr_t)json_pointer(report, "/run/time");
	cJSON_DeleteItemFromObjectCaseSensitive(time, "otherMs");
	cJSON_DeleteItemFromObjectCaseSensitive(time, "overheadPercent");

	for (const struct volatile_member *rule = volatile_members; rule->pointer != NULL; rule++)
		walk(report, rule, rule->pointer);
	json_each (check, json_pointer(report, "/checks")) {
		json_each (assertion, json_pointer(check, "/assertions"))
			fix_assertion(report, check, assertion);
	}
}
