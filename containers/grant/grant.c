/* SPDX-License-Identifier: MIT */
#include "containers/grant/grant.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

/* How each kind is called, and the members of its JSON. */
static const struct {
	const char *name, *list, *key, *value;
} kinds[GRANT_KINDS] = {
	[GRANT_ENV] = {"env", "envs", "name", "value"},
	[GRANT_MOUNT] = {"mount", "mounts", "container_path", "host_path"},
	[GRANT_DEVICE] = {"device", "devices", "container_path", "host_path"},
	[GRANT_ANNOTATION] = {"annotation", "annotations", "name", "value"},
	[GRANT_CDI_DEVICE] = {"cdi-device", "cdi_devices", "name", "value"},
};

int grant_keep(struct grant *grant, const char **string, struct error *err)
{
	if (*string == NULL)
		return 0;
	int rc = text_list_add(&grant->strings, *string, err);
	if (rc == 0)
		*string = grant->strings.items[grant->strings.count - 1];
	return rc;
}

int grant_add(struct grant *grant, enum grant_kind kind, const struct grant_entry *entry,
	      struct error *err)
{
	struct grant_list *list = &grant->lists[kind];
	struct grant_entry kept = *entry;
	struct grant_entry *items = array_grow(list->items, list->count, sizeof(*items));
	if (items == NULL)
		return error_memory(err);
	list->items = items;
	if (grant_keep(grant, &kept.name, err) < 0 || grant_keep(grant, &kept.value, err) < 0 ||
	    grant_keep(grant, &kept.permissions, err) < 0)
		return ERROR_MEMORY;
	items[list->count++] = kept;
	return 0;
}

int grant_add_conflict(struct grant *grant, const struct grant_conflict *conflict,
		       struct error *err)
{
	struct grant_conflict kept = *conflict;
	struct grant_conflict *items =
		array_grow(grant->conflicts, grant->conflict_count, sizeof(*items));
	if (items == NULL)
		return error_memory(err);
	grant->conflicts = items;
	if (grant_keep(grant, &kept.key, err) < 0 || grant_keep(grant, &kept.winner, err) < 0 ||
	    grant_keep(grant, &kept.loser, err) < 0)
		return ERROR_MEMORY;
	items[grant->conflict_count++] = kept;
	return 0;
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

static int list_once(struct text_list *names, const char *name, struct error *err)
{
	return text_list_has(names, name) ? 0 : text_list_add(names, name, err);
}

int grant_list_cdi(const struct grant *grant, struct text_list *names, struct error *err)
{
	int rc = 0;
	grant_each (device, &grant->cdi_devices) {
		rc = rc == 0 ? list_once(names, device->name, err) : rc;
	}
	grant_each (annotation, &grant->annotations) {
		struct text_list words CLEANUP_TEXT_LIST = {0};
		if (rc == 0 && is_cdi_annotation(annotation))
			rc = text_list_split(&words, annotation->value, ',', err);
		text_each (word, &words) {
			rc = rc == 0 ? list_once(names, word, err) : rc;
		}
	}
	return rc;
}

/* NULL is left out. */
static bool add_string(cJSON *object, const char *key, const char *value)
{
	return value == NULL || json_add_string(object, key, value);
}

/* A new object at the end of `array`; NULL when memory ran out. */
static cJSON *add_object(cJSON *array)
{
	cJSON *object = cJSON_CreateObject();
	if (object != NULL && cJSON_AddItemToArray(array, object))
		return object;
	cJSON_Delete(object);
	return NULL;
}

static bool add_entry(cJSON *array, enum grant_kind kind, const struct grant_entry *entry)
{
	cJSON *object = add_object(array);
	return object != NULL && add_string(object, kinds[kind].key, entry->name) &&
	       add_string(object, kinds[kind].value, entry->value) &&
	       (kind != GRANT_MOUNT ||
		cJSON_AddBoolToObject(object, "read_only", entry->read_only) != NULL) &&
	       add_string(object, "permissions", entry->permissions) &&
	       add_string(object, "resource", entry->resource);
}

static bool add_conflict(cJSON *array, const struct grant_conflict *conflict)
{
	cJSON *object = add_object(array);
	return object != NULL && add_string(object, "kind", kinds[conflict->kind].name) &&
	       add_string(object, "key", conflict->key) &&
	       add_string(object, "winner", conflict->winner) &&
	       add_string(object, "winner_resource", conflict->winner_resource) &&
	       add_string(object, "loser", conflict->loser) &&
	       add_string(object, "loser_resource", conflict->loser_resource) &&
	       cJSON_AddBoolToObject(object, "same", conflict->same) != NULL &&
	       cJSON_AddBoolToObject(object, "dropped", conflict->dropped) != NULL;
}

cJSON *grant_json(const struct grant *grant)
{
	cJSON *json CLEANUP_JSON = cJSON_CreateObject();
	bool good = json != NULL;
	for (enum grant_kind kind = 0; good && kind < GRANT_KINDS; kind++) {
		cJSON *array = cJSON_AddArrayToObject(json, kinds[kind].list);
		good = array != NULL;
		for (size_t i = 0; good && i < grant->lists[kind].count; i++)
			good = add_entry(array, kind, &grant->lists[kind].items[i]);
	}
	cJSON *conflicts = good ? cJSON_AddArrayToObject(json, "conflicts") : NULL;
	good = conflicts != NULL;
	for (size_t i = 0; good && i < grant->conflict_count; i++)
		good = add_conflict(conflicts, &grant->conflicts[i]);
	return good ? STEAL(json) : NULL;
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
