/* SPDX-License-Identifier: MIT */
/* What two reports are about: the same parts, or others? */
#include "reports/pages/compare/environments.h"
#include "base/cleanup.h"
#include "reports/environment.h"

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
	const char *recording; /* the digest of a recorded node; "": the node is none */
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
	if (text_starts_with(pointer, "/runtimeFiles") || text_starts_with(pointer, "/otherFiles"))
		return COMPARE_DRIVER;
	while (strcmp(sections[part], section) != 0)
		part++;
	return part;
}

static int add_member(struct identity *identity, const char *section, const char *pointer,
		      const cJSON *value, struct error *err)
{
	char *json CLEANUP_FREE = json_print_compact(value);
	return json == NULL ? error_memory(err)
			    : text_list_addf(&identity->members[part_of(section, pointer)], err,
					     "%s=%s", pointer, json);
}

/* A plugin that replays a recorded node has it among its files: that is the node, not the plugin. */
static int add_files(struct identity *identity, const char *section, const char *pointer,
		     const cJSON *digests, struct error *err)
{
	int rc = 0;
	json_each (digest, digests) {
		const char *text = cJSON_GetStringValue(digest);
		if (rc == 0 && (text == NULL || strcmp(text, identity->recording) != 0))
			rc = add_member(identity, section, pointer, digest, err);
	}
	return rc;
}

static int add_item(const char *section, const char *const *pointers, const cJSON *item, void *user,
		    struct error *err)
{
	int rc = 0;
	for (; rc == 0 && *pointers != NULL; pointers++) {
		const cJSON *value = json_pointer(item, *pointers);
		if (strcmp(*pointers, "/fileDigests") == 0 && cJSON_IsArray(value))
			rc = add_files(user, section, *pointers, value, err);
		else if (value != NULL)
			rc = add_member(user, section, *pointers, value, err);
	}
	return rc;
}

static int identify(const cJSON *report, struct identity *out, struct error *err)
{
	const bool is_recorded =
		strcmp(view_string(report, "/environment/node/kind"), "recorded") == 0;
	out->recording = is_recorded ? view_string(report, "/environment/node/digest") : "";
	int rc = environment_each(json_pointer(report, "/environment"), add_item, out, err);
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
	struct text name CLEANUP_TEXT = {0};
	environment_add_names(sections[part], json_pointer(report, "/environment"), &name);
	if (name.size == 0)
		text_add(&name, "unknown");
	return text_take(&name);
}

/* Two recordings, replayed by the same machine. */
static bool are_recordings(const cJSON *from, const cJSON *to)
{
	const cJSON *const nodes[] = {json_pointer(from, "/environment/node"),
				      json_pointer(to, "/environment/node")};
	return strcmp(view_string(nodes[0], "/kind"), "recorded") == 0 &&
	       strcmp(view_string(nodes[1], "/kind"), "recorded") == 0 &&
	       cJSON_Compare(json_pointer(nodes[0], "/machine"), json_pointer(nodes[1], "/machine"),
			     true);
}

/* A Windows image must be of the host's build, and the machine of a live node is where it runs; a recording is
 * another one when what it tells is. */
static void find_followers(struct compare_difference *differences, const cJSON *from,
			   const cJSON *to)
{
	const bool is_live = strcmp(view_string(to, "/environment/node/kind"), "live") == 0;
	const bool is_windows = strcmp(view_string(to, "/environment/os/name"), "windows") == 0;
	const bool os = differences[COMPARE_OS].is;
	const bool told = os || differences[COMPARE_DRIVER].is || differences[COMPARE_DEVICE].is;
	differences[COMPARE_NODE].follows = differences[COMPARE_NODE].is &&
					    ((os && is_live) || (told && are_recordings(from, to)));
	differences[COMPARE_IMAGE].follows = os && differences[COMPARE_IMAGE].is && is_windows;
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
	find_followers(out, from, to);
	return 0;
}
