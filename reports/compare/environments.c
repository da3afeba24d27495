/* SPDX-License-Identifier: MIT */
/* What two reports are about: the same parts, or others? */
#include "reports/compare/environments.h"
#include "base/cleanup.h"
#include "reports/environment.h"
#include "reports/environment_name.h"

#include <stdlib.h>
#include <string.h>

const char *const compare_part_names[] = {"OS",	    "driver",  "device", "runtime", "plugin",
					  "images", "harness", "node",	 NULL};

static const char *const sections[COMPARE_PART_COUNT] = {
	[COMPARE_OS] = "os",	       [COMPARE_DRIVER] = "drivers", [COMPARE_DEVICE] = "devices",
	[COMPARE_RUNTIME] = "runtime", [COMPARE_PLUGIN] = "plugin",  [COMPARE_IMAGE] = "images",
	[COMPARE_HARNESS] = "harness", [COMPARE_NODE] = "node",
};

/* The identifying members of each part, as "pointer=value". */
struct identity {
	struct text_list members[COMPARE_PART_COUNT];
};

static void identity_free(struct identity *identity)
{
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++)
		text_list_free(&identity->members[i]);
}

/* The files that containers get of a device are its driver's. */
static enum compare_part part_of(const char *section, const char *pointer)
{
	enum compare_part part = COMPARE_OS;
	if (text_starts_with(pointer, "/runtimeFiles"))
		return COMPARE_DRIVER;
	while (strcmp(sections[part], section) != 0)
		part++;
	return part;
}

static int add_member(const char *section, const char *pointer, const cJSON *value, void *user,
		      struct error *err)
{
	struct identity *identity = user;
	char *json CLEANUP_FREE = json_print_compact(value);
	return json == NULL ? error_memory(err)
			    : text_list_addf(&identity->members[part_of(section, pointer)], err,
					     "%s=%s", pointer, json);
}

static int identify(const cJSON *report, struct identity *out, struct error *err)
{
	int rc = environment_each_identity(cJSON_GetObjectItemCaseSensitive(report, "environment"),
					   add_member, out, err);
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++)
		text_list_sort(&out->members[i]);
	return rc;
}

static bool is_same(const struct text_list *a, const struct text_list *b)
{
	bool same = a->count == b->count;
	for (size_t i = 0; same && i < a->count; i++)
		same = strcmp(a->items[i], b->items[i]) == 0;
	return same;
}

/* NULL: out of memory. */
static char *name_of(enum compare_part part, const cJSON *report)
{
	const cJSON *environment = cJSON_GetObjectItemCaseSensitive(report, "environment");
	const cJSON *section = cJSON_GetObjectItemCaseSensitive(environment, sections[part]);
	struct text name CLEANUP_TEXT = {0};
	if (!cJSON_IsArray(section))
		environment_add_name(sections[part], section, &name);
	json_each (item, cJSON_IsArray(section) ? section : NULL) {
		text_add(&name, name.size > 0 ? ", " : "");
		environment_add_name(sections[part], item, &name);
	}
	if (name.size == 0)
		text_add(&name, "unknown");
	return text_take(&name);
}

/* A Windows image must be of the host's build, and the machine of a live node is where it runs. */
static void find_followers(struct compare_difference *differences, const cJSON *to)
{
	const bool is_live = strcmp(view_string(to, "/environment/node/kind"), "live") == 0;
	const bool is_windows = strcmp(view_string(to, "/environment/os/name"), "windows") == 0;
	if (!differences[COMPARE_OS].is)
		return;
	differences[COMPARE_NODE].follows = differences[COMPARE_NODE].is && is_live;
	differences[COMPARE_IMAGE].follows = differences[COMPARE_IMAGE].is && is_windows;
}

int environments_compare(const cJSON *from, const cJSON *to,
			 struct compare_difference out[COMPARE_PART_COUNT], struct error *err)
{
	struct identity before CLEANUP(identity_free) = {0};
	struct identity after CLEANUP(identity_free) = {0};
	int rc = identify(from, &before, err);
	if (rc == 0)
		rc = identify(to, &after, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
		out[i].is = !is_same(&before.members[i], &after.members[i]);
		out[i].from = name_of((enum compare_part)i, from);
		out[i].to = name_of((enum compare_part)i, to);
		if (out[i].from == NULL || out[i].to == NULL)
			return error_memory(err);
	}
	find_followers(out, to);
	return 0;
}
