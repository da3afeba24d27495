/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/json.h"
#include "conformance/kubelet/container_options.h"

#include <string.h>

/* A new object at the end of `array`; NULL when memory ran out or `good` is false already. */
static cJSON *add_entry(cJSON *array, bool good)
{
	cJSON *entry = good && array != NULL ? cJSON_CreateObject() : NULL;
	if (entry != NULL && !cJSON_AddItemToArray(array, entry)) {
		cJSON_Delete(entry);
		entry = NULL;
	}
	return entry;
}

static bool add_string(cJSON *object, const char *key, const char *value)
{
	if (object == NULL || value == NULL)
		return object != NULL;
	cJSON *item = json_new_string(value, strlen(value));
	if (item != NULL && cJSON_AddItemToObject(object, key, item))
		return true;
	cJSON_Delete(item);
	return false;
}

static bool add_pairs(cJSON *json, const char *member, const struct kubelet_env *pairs,
		      size_t count)
{
	cJSON *array = cJSON_AddArrayToObject(json, member);
	bool good = array != NULL;
	for (size_t i = 0; good && i < count; i++) {
		cJSON *entry = add_entry(array, good);
		good = add_string(entry, "name", pairs[i].name) &&
		       add_string(entry, "value", pairs[i].value) &&
		       add_string(entry, "resource", pairs[i].resource);
	}
	return good;
}

static bool add_mounts(cJSON *json, const struct kubelet_container_options *options)
{
	cJSON *array = cJSON_AddArrayToObject(json, "mounts");
	bool good = array != NULL;
	for (size_t i = 0; good && i < options->mount_count; i++) {
		const struct kubelet_mount *mount = &options->mounts[i];
		cJSON *entry = add_entry(array, good);
		good = add_string(entry, "container_path", mount->container_path) &&
		       add_string(entry, "host_path", mount->host_path) &&
		       cJSON_AddBoolToObject(entry, "read_only", mount->read_only) != NULL &&
		       add_string(entry, "resource", mount->resource);
	}
	return good;
}

static bool add_devices(cJSON *json, const struct kubelet_container_options *options)
{
	cJSON *array = cJSON_AddArrayToObject(json, "devices");
	bool good = array != NULL;
	for (size_t i = 0; good && i < options->device_count; i++) {
		const struct kubelet_device_node *device = &options->devices[i];
		cJSON *entry = add_entry(array, good);
		good = add_string(entry, "container_path", device->container_path) &&
		       add_string(entry, "host_path", device->host_path) &&
		       add_string(entry, "permissions", device->permissions) &&
		       add_string(entry, "resource", device->resource);
	}
	return good;
}

static bool add_cdi_devices(cJSON *json, const struct kubelet_container_options *options)
{
	cJSON *array = cJSON_AddArrayToObject(json, "cdi_devices");
	bool good = array != NULL;
	for (size_t i = 0; good && i < options->cdi_device_count; i++) {
		cJSON *entry = add_entry(array, good);
		good = add_string(entry, "name", options->cdi_devices[i].name) &&
		       add_string(entry, "resource", options->cdi_devices[i].resource);
	}
	return good;
}

static bool add_conflicts(cJSON *json, const struct kubelet_container_options *options)
{
	cJSON *array = cJSON_AddArrayToObject(json, "conflicts");
	bool good = array != NULL;
	for (size_t i = 0; good && i < options->conflict_count; i++) {
		const struct kubelet_conflict *conflict = &options->conflicts[i];
		cJSON *entry = add_entry(array, good);
		good = add_string(entry, "kind", kubelet_option_kind_name(conflict->kind)) &&
		       add_string(entry, "key", conflict->key) &&
		       add_string(entry, "winner", conflict->winner) &&
		       add_string(entry, "winner_resource", conflict->winner_resource) &&
		       add_string(entry, "loser", conflict->loser) &&
		       add_string(entry, "loser_resource", conflict->loser_resource) &&
		       cJSON_AddBoolToObject(entry, "same", conflict->same) != NULL &&
		       cJSON_AddBoolToObject(entry, "dropped", conflict->dropped) != NULL;
	}
	return good;
}

cJSON *kubelet_container_options_json(const struct kubelet_container_options *options)
{
	cJSON *json CLEANUP_JSON = cJSON_CreateObject();
	bool good =
		json != NULL && add_pairs(json, "envs", options->envs, options->env_count) &&
		add_mounts(json, options) && add_devices(json, options) &&
		add_pairs(json, "annotations", options->annotations, options->annotation_count) &&
		add_cdi_devices(json, options) && add_conflicts(json, options);
	return good ? STEAL(json) : NULL;
}
