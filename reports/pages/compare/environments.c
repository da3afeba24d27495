/* SPDX-License-Identifier: MIT */
/* Are two reports about the same parts, or about others? */
#include "reports/pages/compare/environments.h"
#include "base/cleanup.h"
#include "reports/environment.h"

#include <stdlib.h>

const char *const compare_part_names[] = {"OS",	    "driver",  "device", "runtime", "plugin",
					  "images", "harness", "node",	 NULL};

static const char *const sections[COMPARE_PART_COUNT] = {
	[COMPARE_OS] = "os",	       [COMPARE_DRIVER] = "drivers", [COMPARE_DEVICE] = "devices",
	[COMPARE_RUNTIME] = "runtime", [COMPARE_PLUGIN] = "plugin",  [COMPARE_IMAGE] = "images",
	[COMPARE_HARNESS] = "harness", [COMPARE_NODE] = "node",
};

/* The identifying members of each part, as "pointer=value". */
struct identity {
	const char *recording; /* the digest of a recorded node; "": it is not one */
	struct text_list members[COMPARE_PART_COUNT];
};

static void identity_free(struct identity *identity)
{
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++)
		text_list_free(&identity->members[i]);
}

static void add_member(struct identity *identity, const char *section, const char *pointer,
		       const cJSON *value)
{
	char *json CLEANUP_FREE = json_print_compact(value);
	enum compare_part part = COMPARE_OS;

	/* The files of a device that containers get belong to its driver. */
	if (text_starts_with(pointer, "/runtimeFiles") || text_starts_with(pointer, "/otherFiles"))
		section = sections[COMPARE_DRIVER];
	while (!text_equal(sections[part], section))
		part++;
	text_list_addf(&identity->members[part], "%s=%s", pointer, json);
}

static void add_item(const char *section, const char *const *pointers, const cJSON *item,
		     void *user)
{
	struct identity *identity = user;
	for (; *pointers != NULL; pointers++) {
		const cJSON *value = json_pointer(item, *pointers);
		if (value == NULL)
			continue;
		if (!text_equal(*pointers, "/fileDigests") || !cJSON_IsArray(value)) {
			add_member(identity, section, *pointers, value);
			continue;
		}
		/* A plugin that replays a recorded node lists that among its files, but it belongs
		 * to the node. */
		json_each (digest, value) {
			if (!text_equal(cJSON_GetStringValue(digest), identity->recording))
				add_member(identity, section, *pointers, digest);
		}
	}
}

static void identify(const cJSON *report, struct identity *out)
{
	const bool is_recorded = view_is(report, "/environment/node/kind", "recorded");
	out->recording = is_recorded ? view_string(report, "/environment/node/digest") : "";
	environment_each(json_pointer(report, "/environment"), add_item, out);
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++)
		text_list_sort(&out->members[i]);
}

static char *name_of(enum compare_part part, const cJSON *report)
{
	struct text name CLEANUP_TEXT = {0};
	environment_add_names(sections[part], json_pointer(report, "/environment"), &name);
	if (name.size == 0)
		text_add(&name, "unknown");
	return text_take(&name);
}

void environments_compare(const cJSON *from, const cJSON *to,
			  struct compare_difference out[COMPARE_PART_COUNT])
{
	struct identity before CLEANUP(identity_free) = {0};
	struct identity after CLEANUP(identity_free) = {0};
	identify(from, &before);
	identify(to, &after);
	for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
		const struct text_list *a = &before.members[i];
		const struct text_list *b = &after.members[i];
		out[i].is = a->count != b->count;
		for (size_t k = 0; !out[i].is && k < a->count; k++)
			out[i].is = !text_equal(a->items[k], b->items[k]);
		out[i].from = name_of((enum compare_part)i, from);
		out[i].to = name_of((enum compare_part)i, to);
	}

	/* A Windows image must match the host's build. */
	const bool os = out[COMPARE_OS].is;
	const bool is_windows = view_is(to, "/environment/os/name", "windows");
	out[COMPARE_IMAGE].follows = os && out[COMPARE_IMAGE].is && is_windows;

	/* The machine of a live node depends on its system, and a recording replayed on one machine
	 * on its content. */
	const bool is_live = view_is(to, "/environment/node/kind", "live");
	const bool recorded = before.recording[0] != '\0' && after.recording[0] != '\0' &&
			      cJSON_Compare(json_pointer(from, "/environment/node/machine"),
					    json_pointer(to, "/environment/node/machine"), true);
	const bool content = os || out[COMPARE_DRIVER].is || out[COMPARE_DEVICE].is;
	out[COMPARE_NODE].follows =
		out[COMPARE_NODE].is && ((os && is_live) || (content && recorded));
}
