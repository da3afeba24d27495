/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/event.h"

#include "base/clock.h"
#include "base/json.h"
#include "conformance/kubelet/merge.h"
#include "rpc/rpc.h"

#include <string.h>

const char *kubelet_event_name(enum kubelet_event_type type)
{
	static const char *const names[KUBELET_EVENT_COUNT] = {
#define EVENT_NAME(enumerator, name) name,
		KUBELET_EVENTS(EVENT_NAME)
#undef EVENT_NAME
	};
	return names[type];
}

struct kubelet_event kubelet_event_of(enum kubelet_event_type type)
{
	return (struct kubelet_event){.type = type,
				      .code = -1,
				      .size = -1,
				      .capacity = -1,
				      .allocatable = -1,
				      .duration_ms = -1};
}

static bool add_item(cJSON *object, const char *key, cJSON *item)
{
	if (cJSON_AddItemToObject(object, key, item))
		return true;
	cJSON_Delete(item);
	return false;
}

static bool add_string(cJSON *object, const char *key, const char *value)
{
	return value == NULL || add_item(object, key, json_new_string(value, strlen(value)));
}

static bool add_count(cJSON *object, const char *key, int64_t value)
{
	return value < 0 || add_item(object, key, cJSON_CreateNumber((double)value));
}

static bool add_options(cJSON *object, const struct kubelet_plugin_options *options)
{
	cJSON *json = options == NULL ? NULL : cJSON_AddObjectToObject(object, "options");
	return options == NULL ||
	       (cJSON_AddBoolToObject(json, "pre_start_required", options->pre_start_required) &&
		cJSON_AddBoolToObject(json, "get_preferred_allocation_available",
				      options->get_preferred_allocation_available));
}

static bool add_device(cJSON *array, const struct kubelet_device *device)
{
	cJSON *json = cJSON_CreateObject();
	if (!cJSON_AddItemToArray(array, json) || !add_string(json, "id", device->id) ||
	    !add_string(json, "health", device->health))
		return false;
	cJSON *nodes = device->has_topology ? cJSON_AddArrayToObject(json, "numa") : NULL;
	bool good = !device->has_topology || nodes != NULL;
	for (size_t i = 0; good && i < device->numa_count; i++)
		good = cJSON_AddItemToArray(nodes, cJSON_CreateNumber((double)device->numa[i]));
	return good;
}

static bool add_devices(cJSON *object, const struct kubelet_device_list *devices)
{
	cJSON *array = devices == NULL ? NULL : cJSON_AddArrayToObject(object, "devices");
	bool good = devices == NULL || array != NULL;
	for (size_t i = 0; good && devices != NULL && i < devices->count; i++)
		good = add_device(array, &devices->items[i]);
	return good;
}

static bool add_ids(cJSON *object, const struct text_list *ids)
{
	cJSON *array = ids == NULL ? NULL : cJSON_AddArrayToObject(object, "ids");
	bool good = ids == NULL || array != NULL;
	for (size_t i = 0; good && ids != NULL && i < ids->count; i++)
		good = cJSON_AddItemToArray(array,
					    json_new_string(ids->items[i], strlen(ids->items[i])));
	return good;
}

cJSON *kubelet_event_json(const struct kubelet_event *event)
{
	cJSON *json CLEANUP_JSON = cJSON_CreateObject();
	char utc[CLOCK_UTC_SIZE];
	bool good = json != NULL && add_string(json, "time", clock_utc(utc)) &&
		    add_count(json, "elapsed_ms", (int64_t)event->elapsed_ms) &&
		    add_string(json, "event", kubelet_event_name(event->type)) &&
		    add_string(json, "resource", event->resource) &&
		    add_string(json, "socket", event->socket) &&
		    add_string(json, "endpoint", event->endpoint) &&
		    add_string(json, "version", event->version) &&
		    add_string(json, "pod", event->pod) &&
		    add_string(json, "container", event->container) &&
		    add_string(json, "stream", event->stream) &&
		    add_string(json, "code", event->code < 0 ? NULL : rpc_code_name(event->code)) &&
		    add_string(json, "text", event->text) && add_count(json, "size", event->size) &&
		    add_count(json, "capacity", event->capacity) &&
		    add_count(json, "allocatable", event->allocatable) &&
		    add_count(json, "duration_ms", event->duration_ms) &&
		    add_options(json, event->options) && add_devices(json, event->devices) &&
		    add_ids(json, event->ids);
	if (good && event->grant != NULL)
		good = add_item(json, "container_options", grant_json(event->grant));
	return good ? STEAL(json) : NULL;
}
