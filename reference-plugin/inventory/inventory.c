/* SPDX-License-Identifier: MIT */
#include "reference-plugin/inventory/inventory.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *inventory_resource_name(enum inventory_resource resource)
{
	return resource == INVENTORY_DISPLAY ? "display" : "compute";
}

const char *inventory_unassignable(bool windows, const struct discovery_device *device)
{
	if (!device->allocatable)
		return device->not_allocatable_reason;
	if (windows && device->location_path[0] == '\0')
		return "it has no location path to assign it by";
	return NULL;
}

const char *inventory_withholds(const struct inventory *inventory,
				const struct discovery_device *device)
{
	if (!device->display && !device->compute)
		return "it neither renders nor computes";
	if (inventory->display_computes && device->display && !device->compute)
		return "it renders and does not compute: it has no Direct3D 12";
	return inventory->windows && inventory->without_location_path
		       ? NULL
		       : inventory_unassignable(inventory->windows, device);
}

static int by_id(const void *a, const void *b)
{
	const struct inventory_device *left = a;
	const struct inventory_device *right = b;
	int order = strcmp(left->id, right->id);
	return order != 0 ? order : (left->found > right->found) - (left->found < right->found);
}

static int by_key(const void *id, const void *device)
{
	return strcmp(id, ((const struct inventory_device *)device)->id);
}

static const struct inventory_device *find(const struct inventory *inventory, const char *id)
{
	return inventory->device_count == 0
		       ? NULL
		       : bsearch(id, inventory->devices, inventory->device_count,
				 sizeof(*inventory->devices), by_key);
}

static void sort(struct inventory *inventory)
{
	qsort(inventory->devices, inventory->device_count, sizeof(*inventory->devices), by_id);
}

/* Ids are unique; if a node repeats one, the first device wins. */
static void add_found(struct inventory *out, const struct discovery_snapshot *snapshot)
{
	struct inventory_device *devices = out->devices;
	size_t kept = 0;
	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct discovery_device *found = &snapshot->devices[i];
		if (inventory_withholds(out, found) != NULL)
			continue;
		/* On Windows the kubelet's topology manager knows no NUMA nodes, and if enabled it rejects pods
		 * with a device that has one. */
		bool numa = !out->windows && found->numa_node >= 0 &&
			    found->numa_node <= INVENTORY_NUMA_MAX;
		struct inventory_device *device = &devices[out->device_count++];
		*device = (struct inventory_device){
			.resource = found->display ? INVENTORY_DISPLAY : INVENTORY_COMPUTE,
			.numa_node = numa ? found->numa_node : DISCOVERY_UNKNOWN,
			.healthy = found->health == DISCOVERY_HEALTHY,
			.reason = found->health == DISCOVERY_HEALTHY ? "" : found->health_reason,
			.found = found,
		};
		(void)snprintf(device->id, sizeof(device->id), "%s", found->id);
	}
	sort(out);
	for (size_t i = 0; i < out->device_count; i++) {
		if (kept == 0 || strcmp(devices[kept - 1].id, devices[i].id) != 0)
			devices[kept++] = devices[i];
	}
	out->device_count = kept;
}

static void compare(const struct inventory_device *before, const struct inventory_device *after,
		    inventory_event_fn *on_event, void *user)
{
	if (before == NULL) {
		on_event("appeared", after, user);
	} else if (after == NULL) {
		on_event("removed", before, user);
	} else if (before->resource != after->resource) {
		on_event("removed", before, user);
		on_event("appeared", after, user);
	} else if (before->found != NULL && after->found == NULL) {
		on_event("gone", after, user);
	} else if (before->found == NULL && after->found != NULL) {
		on_event(after->healthy ? "returned" : "unhealthy", after, user);
	} else if (before->healthy != after->healthy) {
		on_event(after->healthy ? "healthy again" : "unhealthy", after, user);
	} else if (before->numa_node != after->numa_node) {
		on_event("on another NUMA node", after, user);
	}
}

int inventory_update(struct inventory *inventory, const struct discovery_snapshot *snapshot,
		     uint64_t now_ms, inventory_event_fn *on_event, void *user, struct error *err)
{
	struct inventory before = *inventory;
	struct inventory after = before;
	int rc = 0;
	after.devices = memory_allocate(before.device_count + snapshot->device_count + 1,
					sizeof(*after.devices));
	after.device_count = 0;
	after.recorded = snapshot->recorded;
	after.windows = strcmp(snapshot->system.os, "windows") == 0;
	if (after.devices == NULL)
		return error_memory(err);
	add_found(&after, snapshot);

	/* Devices that are no longer found stay until their grace period is over. */
	const struct inventory found = after;
	for (size_t i = 0; i < before.device_count; i++) {
		const struct inventory_device *device = &before.devices[i];
		bool over = device->found == NULL &&
			    now_ms - device->gone_since_ms >= before.removal_grace_ms;
		if (over || find(&found, device->id) != NULL)
			continue;
		struct inventory_device *gone = &after.devices[after.device_count++];
		*gone = *device;
		gone->healthy = false;
		gone->reason = "the device is gone";
		gone->gone_since_ms = device->found != NULL ? now_ms : device->gone_since_ms;
		gone->found = NULL;
	}
	sort(&after);

	if (after.device_count > INVENTORY_DEVICES_MAX)
		rc = error_set(err, ERROR_LIMIT,
			       "%zu devices are more than the plugin can offer (%d)",
			       after.device_count, (int)INVENTORY_DEVICES_MAX);
	else if (after.device_count * after.replicas > INVENTORY_IDS_MAX)
		rc = error_set(err, ERROR_LIMIT,
			       "%zu devices with %u replicas each are more than %d device ids",
			       after.device_count, after.replicas, (int)INVENTORY_IDS_MAX);
	if (rc < 0) {
		inventory_free(&after);
		return rc;
	}

	*inventory = after;
	for (size_t i = 0; i < before.device_count; i++) {
		if (find(&after, before.devices[i].id) == NULL)
			compare(&before.devices[i], NULL, on_event, user);
	}
	for (size_t i = 0; i < after.device_count; i++)
		compare(find(&before, after.devices[i].id), &after.devices[i], on_event, user);
	inventory_free(&before);
	return 0;
}

uint64_t inventory_next_removal_ms(const struct inventory *inventory, uint64_t now_ms)
{
	uint64_t next = UINT64_MAX;
	for (size_t i = 0; i < inventory->device_count; i++) {
		const struct inventory_device *device = &inventory->devices[i];
		uint64_t gone = now_ms - device->gone_since_ms;
		uint64_t left =
			gone < inventory->removal_grace_ms ? inventory->removal_grace_ms - gone : 0;
		if (device->found == NULL && left < next)
			next = left;
	}
	return next;
}

int inventory_locate(const struct inventory *inventory, enum inventory_resource resource,
		     const char *id, size_t *slot, struct error *err)
{
	char device[REPLICA_ID_SIZE];
	uint32_t replica = 0;
	int rc = replica_id_parse(id, device, &replica, err);
	if (rc < 0)
		return rc;
	const struct inventory_device *found = find(inventory, device);
	if (found == NULL)
		return replica_id_error(err, ERROR_NOT_FOUND, id, " names no device of this node");
	if (found->resource != resource)
		return replica_id_error(err, ERROR_NOT_FOUND, id,
					" belongs to the %s resource, not to the %s resource",
					inventory_resource_name(found->resource),
					inventory_resource_name(resource));
	if (replica >= inventory->replicas)
		return replica_id_error(err, ERROR_NOT_FOUND, id,
					": replicas of this device are 0 to %u",
					inventory->replicas - 1);
	*slot = (size_t)(found - inventory->devices) * inventory->replicas + replica;
	return 0;
}

void inventory_free(struct inventory *inventory)
{
	free(STEAL(inventory->devices));
	inventory->device_count = 0;
}
