/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/event.h"

#include "base/clock.h"
#include "base/members.h"
#include "containers/grant/grant.h"
#include "rpc/rpc.h"

const char *kubelet_event_name(enum kubelet_event_type type)
{
	static const char *const names[KUBELET_EVENT_COUNT] = {
#define EVENT_NAME(enumerator, name, meaning, members) name,
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

static void add_string(struct members *members, const char *key, const char *value)
{
	if (value != NULL)
		member_string(members, key, value);
}

static void add_count(struct members *members, const char *key, int64_t value)
{
	if (value >= 0)
		member_int(members, key, value);
}

cJSON *kubelet_event_json(const struct kubelet_event *event)
{
	struct members json CLEANUP_MEMBERS = members_new();
	char utc[CLOCK_UTC_SIZE];

	member_string(&json, "time", clock_utc(utc));
	member_int(&json, "elapsed_ms", (int64_t)event->elapsed_ms);
	member_string(&json, "event", kubelet_event_name(event->type));
	add_string(&json, "resource", event->resource);
	add_string(&json, "socket", event->socket);
	add_string(&json, "endpoint", event->endpoint);
	add_string(&json, "version", event->version);
	add_string(&json, "pod", event->pod);
	add_string(&json, "container", event->container);
	add_string(&json, "stream", event->stream);
	add_string(&json, "code", event->code < 0 ? NULL : rpc_code_name(event->code));
	add_string(&json, "text", event->text);
	add_count(&json, "size", event->size);
	add_count(&json, "capacity", event->capacity);
	add_count(&json, "allocatable", event->allocatable);
	add_count(&json, "duration_ms", event->duration_ms);
	if (event->options != NULL) {
		struct members options = member_object(&json, "options");
		member_bool(&options, "pre_start_required", event->options->pre_start_required);
		member_bool(&options, "get_preferred_allocation_available",
			    event->options->get_preferred_allocation_available);
	}
	if (event->devices != NULL) {
		struct members devices = member_array(&json, "devices");
		listed_each (device, event->devices) {
			struct members members = member_object(&devices, NULL);
			member_string(&members, "id", device->id);
			member_string(&members, "health", device->health);
			if (!device->has_topology)
				continue;
			struct members nodes = member_array(&members, "numa");
			items_each (node, device->numa, device->numa_count)
				member_int(&nodes, NULL, *node);
		}
	}
	if (event->ids != NULL)
		member_item(&json, "ids", json_new_strings(event->ids));
	if (event->grant != NULL)
		member_item(&json, "container_options", grant_json(event->grant));
	return members_take(&json);
}
