/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/event.h"

#include "base/clock.h"
#include "base/json.h"
#include "conformance/kubelet/merge.h"
#include "rpc/rpc.h"

#include <string.h>

static const struct {
	const char *name, *meaning;
} event_table[KUBELET_EVENT_COUNT] = {
#define EVENT_ROW(enumerator, name, meaning) {name, meaning},
	KUBELET_EVENTS(EVENT_ROW)
#undef EVENT_ROW
};

const char *kubelet_event_name(enum kubelet_event_type type)
{
	return event_table[type].name;
}

const char *kubelet_event_meaning(enum kubelet_event_type type)
{
	return event_table[type].meaning;
}

static bool add_item(cJSON *object, const char *key, cJSON *item)
{
	if (item == NULL)
		return false;
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
	if (options == NULL)
		return true;
	cJSON *json = cJSON_AddObjectToObject(object, "options");
	return json != NULL &&
	       cJSON_AddBoolToObject(json, "pre_start_required", options->pre_start_required) &&
	       cJSON_AddBoolToObject(json, "get_preferred_allocation_available",
				     options->get_preferred_allocation_available);
}

static bool add_device(cJSON *array, const struct kubelet_device *device)
{
	cJSON *json = cJSON_CreateObject();
	if (json == NULL || !cJSON_AddItemToArray(array, json)) {
		cJSON_Delete(json);
		return false;
	}
	if (!add_string(json, "id", device->id) || !add_string(json, "health", device->health))
		return false;
	if (!device->has_topology)
		return true;
	cJSON *nodes = cJSON_AddArrayToObject(json, "numa");
	for (size_t i = 0; nodes != NULL && i < device->numa_count; i++)
		cJSON_AddItemToArray(nodes, cJSON_CreateNumber((double)device->numa[i]));
	return nodes != NULL;
}

static bool add_devices(cJSON *object, const struct kubelet_device_list *devices)
{
	if (devices == NULL)
		return true;
	cJSON *array = cJSON_AddArrayToObject(object, "devices");
	bool good = array != NULL;
	for (size_t i = 0; good && i < devices->count; i++)
		good = add_device(array, &devices->items[i]);
	return good;
}

static bool add_ids(cJSON *object, const struct text_list *ids)
{
	if (ids == NULL)
		return true;
	cJSON *array = cJSON_AddArrayToObject(object, "ids");
	bool good = array != NULL;
	for (size_t i = 0; good && i < ids->count; i++) {
		cJSON *id = json_new_string(ids->items[i], strlen(ids->items[i]));
		good = id != NULL && cJSON_AddItemToArray(array, id);
	}
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
