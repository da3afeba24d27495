/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/resources.h"

#include "base/memory.h"
#include "conformance/kubelet/endpoints.h"
#include "conformance/kubelet/pods.h"

#include <string.h>

enum { GRACE_MS = 5 * 60 * 1000 };

struct resource *resource_find(const struct kubelet *kubelet, const char *name)
{
	struct resource *resource = kubelet->resources;
	while (resource != NULL && strcmp(resource->name, name) != 0)
		resource = resource->next;
	return resource;
}

static void resource_free(struct resource *resource)
{
	id_set_clear(&resource->healthy);
	id_set_clear(&resource->unhealthy);
	id_set_clear(&resource->leaked);
	kubelet_device_list_free(&resource->devices);
	free(resource->name);
	free(resource);
}

/* Makes it when absent. */
static struct resource *resource_get(struct kubelet *kubelet, const char *name)
{
	struct resource *resource = resource_find(kubelet, name);
	if (resource != NULL)
		return resource;
	resource = memory_allocate(1, sizeof(*resource));
	resource->name = memory_copy(name);
	resource->next = kubelet->resources;
	kubelet->resources = resource;
	return resource;
}

/* Reports capacity and allocatable when they have changed. */
static void resource_report(struct kubelet *kubelet, struct resource *resource)
{
	size_t allocatable = resource->healthy.list.count;
	size_t capacity = allocatable + resource->unhealthy.list.count;
	if (resource->reported && capacity == resource->reported_capacity &&
	    allocatable == resource->reported_allocatable)
		return;
	resource->reported = true;
	resource->reported_capacity = capacity;
	resource->reported_allocatable = allocatable;
	struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_RESOURCE);
	event.resource = resource->name;
	event.capacity = (int64_t)capacity;
	event.allocatable = (int64_t)allocatable;
	kubelet_report(kubelet, event);
}

void resources_report(struct kubelet *kubelet)
{
	chain_each (resource, kubelet->resources)
		resource_report(kubelet, resource);
}

void resource_leak(struct kubelet *kubelet, const char *name, const struct id_set *ids)
{
	struct resource *resource = resource_find(kubelet, name);
	if (resource != NULL)
		id_set_add(&resource->leaked, ids);
}

void resources_recount(struct kubelet *kubelet)
{
	chain_each (resource, kubelet->resources)
		id_set_clear(&resource->leaked);
}

/* manager.go, PluginConnected. */
void resource_serve(struct kubelet *kubelet, struct kubelet_plugin *plugin)
{
	struct resource *resource = resource_get(kubelet, plugin->resource);
	resource->endpoint = plugin;
	resource->stopped = false;
	/* A survivor that takes over has listed its devices before. */
	resource->relisted = kubelet_stream_state(plugin->stream).messages > 0;
}

/* A message replaces the whole list (manager.go, genericDeviceUpdateCallback). An id that is listed
 * both healthy and unhealthy is in both sets and counts twice. */
void resource_list(struct kubelet *kubelet, const char *name,
		   const struct kubelet_device_list *devices)
{
	struct resource *resource = resource_get(kubelet, name);
	const char **ids CLEANUP_FREE = memory_allocate(devices->count + 1, sizeof(*ids));
	size_t healthy = 0;
	size_t unhealthy = devices->count;
	listed_each (device, devices)
		ids[kubelet_device_is_healthy(device) ? healthy++ : --unhealthy] = device->id;
	kubelet_device_list_free(&resource->devices);
	resource->devices = kubelet_device_list_share(devices);
	resource->listed = true;
	resource->relisted = true;
	id_set_clear(&resource->healthy);
	id_set_clear(&resource->unhealthy);
	id_set_add_strings(&resource->healthy, ids, healthy);
	id_set_add_strings(&resource->unhealthy, ids + healthy, devices->count - healthy);
	resource_report(kubelet, resource);
	checkpoint_write(kubelet);
}

static void resource_stop(const struct kubelet *kubelet, struct resource *resource)
{
	resource->stopped = true;
	resource->stopped_ms = kubelet_elapsed_ms(kubelet);
}

/* Every device becomes unhealthy and the grace period begins (manager.go, PluginDisconnected). */
void resource_disconnected(struct kubelet *kubelet, const char *name)
{
	struct resource *resource = resource_find(kubelet, name);
	if (resource == NULL || resource->stopped)
		return;
	resource_stop(kubelet, resource);
	id_set_add(&resource->unhealthy, &resource->healthy);
	id_set_clear(&resource->healthy);
	resource_report(kubelet, resource);
}

void resource_recall(struct kubelet *kubelet, const char *name)
{
	resource_stop(kubelet, resource_get(kubelet, name));
}

/* Resources whose endpoint has been stopped for the grace period are dropped (manager.go,
 * GetCapacity). */
void resources_sweep(struct kubelet *kubelet)
{
	bool removed = false;
	struct resource **link = &kubelet->resources;
	while (*link != NULL) {
		struct resource *resource = *link;
		if (!resource->stopped ||
		    kubelet_elapsed_ms(kubelet) - resource->stopped_ms < GRACE_MS) {
			link = &resource->next;
			continue;
		}
		*link = resource->next;
		struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_RESOURCE_REMOVED);
		event.resource = resource->name;
		event.capacity = 0;
		event.allocatable = 0;
		kubelet_report(kubelet, event);
		resource_free(resource);
		removed = true;
	}
	if (removed)
		checkpoint_write(kubelet);
}

void resources_free(struct kubelet *kubelet)
{
	while (kubelet->resources != NULL) {
		struct resource *resource = kubelet->resources;
		kubelet->resources = resource->next;
		resource_free(resource);
	}
}

struct kubelet_resource_status kubelet_resource_status(const struct kubelet *kubelet,
						       const char *resource)
{
	const struct resource *found = resource_find(kubelet, resource);
	struct id_set in_use CLEANUP_ID_SET = {0};
	if (found == NULL)
		return (struct kubelet_resource_status){0};
	allocation_in_use(kubelet, resource, &in_use);
	return (struct kubelet_resource_status){
		.known = true,
		.connected = found->endpoint != NULL && !found->stopped,
		.listed = found->relisted,
		.capacity = found->healthy.list.count + found->unhealthy.list.count,
		.allocatable = found->healthy.list.count,
		.in_use = in_use.list.count,
	};
}

void kubelet_resource_names(const struct kubelet *kubelet, struct text_list *out)
{
	chain_each (resource, kubelet->resources)
		text_list_add(out, resource->name);
	text_list_sort(out);
}

const struct kubelet_device_list *kubelet_resource_devices(const struct kubelet *kubelet,
							   const char *resource)
{
	const struct resource *found = resource_find(kubelet, resource);
	return found != NULL && found->listed ? &found->devices : NULL;
}

const struct kubelet_device *kubelet_resource_device(const struct kubelet *kubelet,
						     const char *resource, const char *id)
{
	return kubelet_device_find(kubelet_resource_devices(kubelet, resource), id);
}

struct kubelet_plugin *kubelet_resource_plugin(const struct kubelet *kubelet, const char *resource)
{
	const struct resource *found = resource_find(kubelet, resource);
	return found == NULL ? NULL : found->endpoint;
}
