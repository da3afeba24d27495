/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/json.h"
#include "tools/gen-device-mounts/container_flags.h"

#include <string.h>

static bool add_string(cJSON *object, const char *key, const char *value)
{
	return cJSON_AddItemToObject(object, key, json_new_string(value, strlen(value)));
}

static cJSON *add_object(cJSON *array)
{
	cJSON *object = cJSON_CreateObject();

	if (cJSON_AddItemToArray(array, object))
		return object;
	cJSON_Delete(object);
	return NULL;
}

static bool add_device(cJSON *array, const V1beta1__DeviceSpec *device)
{
	cJSON *object = add_object(array);

	return object != NULL && add_string(object, "container_path", device->container_path) &&
	       add_string(object, "host_path", device->host_path) &&
	       add_string(object, "permissions", device->permissions);
}

static bool add_mount(cJSON *array, const V1beta1__Mount *mount)
{
	cJSON *object = add_object(array);

	return object != NULL && add_string(object, "container_path", mount->container_path) &&
	       add_string(object, "host_path", mount->host_path) &&
	       cJSON_AddBoolToObject(object, "readonly", mount->read_only != 0) != NULL;
}

static bool add_variable(cJSON *array,
			 const V1beta1__ContainerAllocateResponse__EnvsEntry *variable)
{
	cJSON *object = add_object(array);

	return object != NULL && add_string(object, "key", variable->key) &&
	       add_string(object, "value", variable->value);
}

cJSON *container_config(const V1beta1__ContainerAllocateResponse *answer)
{
	cJSON *config CLEANUP_JSON = cJSON_CreateObject();
	cJSON *devices = cJSON_AddArrayToObject(config, "devices");
	cJSON *mounts = cJSON_AddArrayToObject(config, "mounts");
	cJSON *variables = cJSON_AddArrayToObject(config, "envs");
	bool complete = devices != NULL && mounts != NULL && variables != NULL;

	for (size_t i = 0; complete && i < answer->n_devices; i++)
		complete = add_device(devices, answer->devices[i]);
	for (size_t i = 0; complete && i < answer->n_mounts; i++)
		complete = add_mount(mounts, answer->mounts[i]);
	for (size_t i = 0; complete && i < answer->n_envs; i++)
		complete = add_variable(variables, answer->envs[i]);
	return complete ? STEAL(config) : NULL;
}
