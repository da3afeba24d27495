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

int report_make_reproducible(cJSON *report, struct error *err)
{
	int rc = 0;

	for (const struct volatile_member *rule = volatile_members;
	     rc == 0 && rule->pointer != NULL; rule++)
		rc = volatile_walk(report, rule, rule->pointer, err);
	return rc;
}
