/* SPDX-License-Identifier: MIT */
#include "containers/grant/grant.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

/* The name of each kind, and its members in JSON. */
static const struct {
	const char *name, *list, *key, *value;
} kinds[GRANT_KINDS] = {
	[GRANT_ENV] = {"env", "envs", "name", "value"},
	[GRANT_MOUNT] = {"mount", "mounts", "container_path", "host_path"},
	[GRANT_DEVICE] = {"device", "devices", "container_path", "host_path"},
	[GRANT_ANNOTATION] = {"annotation", "annotations", "name", "value"},
	[GRANT_CDI_DEVICE] = {"cdi-device", "cdi_devices", "name", "value"},
};

void grant_keep(struct grant *grant, const char **string)
{
	if (*string == NULL)
		return;
	text_list_add(&grant->strings, *string);
	*string = grant->strings.items[grant->strings.count - 1];
}

void grant_add(struct grant *grant, enum grant_kind kind, const struct grant_entry *entry)
{
	struct grant_list *list = &grant->lists[kind];
	struct grant_entry kept = *entry;
	grant_keep(grant, &kept.name);
	grant_keep(grant, &kept.value);
	grant_keep(grant, &kept.permissions);
	list->items = array_grow(list->items, list->count, sizeof(*list->items));
	list->items[list->count++] = kept;
}

void grant_add_conflict(struct grant *grant, const struct grant_conflict *conflict)
{
	struct grant_conflict kept = *conflict;
	grant_keep(grant, &kept.key);
	grant_keep(grant, &kept.winner);
	grant_keep(grant, &kept.loser);
	grant->conflicts =
		array_grow(grant->conflicts, grant->conflict_count, sizeof(*grant->conflicts));
	grant->conflicts[grant->conflict_count++] = kept;
}

void grant_free(struct grant *grant)
{
	for (size_t kind = 0; kind < GRANT_KINDS; kind++)
		free(grant->lists[kind].items);
	free(grant->conflicts);
	text_list_free(&grant->strings);
	*grant = (struct grant){0};
}

static bool is_cdi_annotation(const struct grant_entry *annotation)
{
	return text_starts_with(annotation->name, GRANT_CDI_ANNOTATION);
}

bool grant_names_cdi(const struct grant *grant)
{
	grant_each (annotation, &grant->annotations) {
		if (is_cdi_annotation(annotation))
			return true;
	}
	return grant->cdi_devices.count != 0;
}

static void list_once(struct text_list *names, const char *name)
{
	if (!text_list_has(names, name))
		text_list_add(names, name);
}

void grant_list_cdi(const struct grant *grant, struct text_list *names)
{
	grant_each (device, &grant->cdi_devices)
		list_once(names, device->name);
	grant_each (annotation, &grant->annotations) {
		struct text_list words CLEANUP_TEXT_LIST = {0};
		if (is_cdi_annotation(annotation))
			text_list_split(&words, annotation->value, ',');
		text_each (word, &words)
			list_once(names, word);
	}
}

/* NULL is left out. */
static void add_string(cJSON *object, const char *key, const char *value)
{
	if (value != NULL)
		json_add_string(object, key, value);
}

cJSON *grant_json(const struct grant *grant)
{
	cJSON *json = cJSON_CreateObject();
	for (enum grant_kind kind = 0; kind < GRANT_KINDS; kind++) {
		cJSON *array = cJSON_AddArrayToObject(json, kinds[kind].list);
		grant_each (entry, &grant->lists[kind]) {
			cJSON *object = cJSON_CreateObject();
			add_string(object, kinds[kind].key, entry->name);
			add_string(object, kinds[kind].value, entry->value);
			if (kind == GRANT_MOUNT)
				(void)cJSON_AddBoolToObject(object, "read_only", entry->read_only);
			add_string(object, "permissions", entry->permissions);
			add_string(object, "resource", entry->resource);
			(void)cJSON_AddItemToArray(array, object);
		}
	}

	cJSON *conflicts = cJSON_AddArrayToObject(json, "conflicts");
	for (size_t i = 0; i < grant->conflict_count; i++) {
		const struct grant_conflict *conflict = &grant->conflicts[i];
		cJSON *object = cJSON_CreateObject();
		add_string(object, "kind", kinds[conflict->kind].name);
		add_string(object, "key", conflict->key);
		add_string(object, "winner", conflict->winner);
		add_string(object, "winner_resource", conflict->winner_resource);
		add_string(object, "loser", conflict->loser);
		add_string(object, "loser_resource", conflict->loser_resource);
		(void)cJSON_AddBoolToObject(object, "same", conflict->same);
		(void)cJSON_AddBoolToObject(object, "dropped", conflict->dropped);
		(void)cJSON_AddItemToArray(conflicts, object);
	}
	return json;
}

bool grant_brings_library(const struct grant *grant)
{
	grant_each (mount, &grant->mounts) {
		if (text_glob("*.so*", path_base(mount->container_path)) &&
		    !text_starts_with(mount->container_path, "/dev/"))
			return true;
	}
	return false;
}
