/* SPDX-License-Identifier: MIT */
#include "reference-plugin/inventory/inventory.h"

#include "base/cleanup.h"
#include "reference-plugin/inventory/replica_id.h"

#include <stdlib.h>
#include <string.h>

const char *inventory_resource_name(enum inventory_resource resource)
{
	return resource == INVENTORY_DISPLAY ? "display" : "compute";
}

const char *inventory_event_name(enum inventory_event event)
{
	static const char *const names[] = {
		[INVENTORY_APPEARED] = "appeared",
		[INVENTORY_RETURNED] = "returned",
		[INVENTORY_SICK] = "unhealthy",
		[INVENTORY_HEALED] = "healthy again",
		[INVENTORY_GONE] = "gone",
		[INVENTORY_REMOVED] = "removed",
		[INVENTORY_MOVED] = "on another NUMA node",
	};

	return names[event];
}

static void device_free(struct inventory_device *device)
{
	free(device->id);
	free(device->reason);
}

static void devices_free(struct inventory_device *devices, size_t count)
{
	for (size_t i = 0; i < count; i++)
		device_free(&devices[i]);
	free(devices);
}

static int by_id(const void *a, const void *b)
{
	const struct discovery_device *const *left = a;
	const struct discovery_device *const *right = b;

	return strcmp((*left)->id, (*right)->id);
}

const char *inventory_withholds(const struct inventory_rules *rules, bool windows,
				const struct discovery_device *device)
{
	if (!device->display && !device->compute)
		return "it neither renders nor computes";
	if (rules->display_computes && device->display && !device->compute)
		return "it renders and does not compute: it has no Direct3D 12";
	if (windows && rules->without_location_path)
		return NULL;
	if (!device->allocatable)
		return device->not_allocatable_reason;
	if (windows && device->location_path[0] == '\0')
		return "it has no location path to assign it by";
	return NULL;
}

static bool is_windows(const struct discovery_snapshot *snapshot)
{
	return strcmp(snapshot->system.os, "windows") == 0;
}

/* What is offered; NULL-ended; NULL when memory ran out. */
static const struct discovery_device **sort_by_id(const struct inventory_rules *rules,
						  const struct discovery_snapshot *snapshot)
{
	const struct discovery_device **sorted =
		calloc(snapshot->device_count + 1, sizeof(struct discovery_device *));
	size_t count = 0;

	if (sorted == NULL)
		return NULL;
	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct discovery_device *device = &snapshot->devices[i];

		if (inventory_withholds(rules, is_windows(snapshot), device) == NULL)
			sorted[count++] = device;
	}
	qsort(sorted, count, sizeof(struct discovery_device *), by_id);
	return sorted;
}

/* On Windows the kubelet's topology manager knows no nodes, and where it is turned on rejects the
 * pod of a device that has one. */
static int device_from_found(const struct discovery_device *found, bool windows,
			     struct inventory_device *out, struct error *err)
{
	bool numa = !windows && found->numa_node >= 0 && found->numa_node <= INVENTORY_NUMA_MAX;

	*out = (struct inventory_device){
		.id = strdup(found->id),
		.resource = found->display ? INVENTORY_DISPLAY : INVENTORY_COMPUTE,
		.numa_node = numa ? found->numa_node : DISCOVERY_UNKNOWN,
		.healthy = found->health == DISCOVERY_HEALTHY,
		.reason = strdup(found->health == DISCOVERY_HEALTHY ? "" : found->health_reason),
		.found = found,
	};
	if (out->id != NULL && out->reason != NULL)
		return 0;
	device_free(out);
	return error_memory(err);
}

static int device_gone(const struct inventory_device *before, uint64_t now_ms,
		       struct inventory_device *out, struct error *err)
{
	*out = (struct inventory_device){
		.id = strdup(before->id),
		.resource = before->resource,
		.numa_node = before->numa_node,
		.reason = strdup("the device is gone"),
		.gone_since_ms = before->found != NULL ? now_ms : before->gone_since_ms,
	};
	if (out->id != NULL && out->reason != NULL)
		return 0;
	device_free(out);
	return error_memory(err);
}

struct merge {
	struct inventory *inventory;
	const struct discovery_device **found; /* sorted; NULL-ended */
	bool windows;
	uint64_t now_ms;
	struct inventory_device *devices; /* the new table */
	size_t count;
};

static bool grace_is_over(const struct inventory *inventory, const struct inventory_device *device,
			  uint64_t now_ms)
{
	return device->found == NULL &&
	       now_ms - device->gone_since_ms >= inventory->removal_grace_ms;
}

/* A device that was known and is not found now. */
static int merge_missing(struct merge *merge, const struct inventory_device *before,
			 struct error *err)
{
	int rc = 0;

	if (grace_is_over(merge->inventory, before, merge->now_ms))
		return 0;
	rc = device_gone(before, merge->now_ms, &merge->devices[merge->count], err);
	if (rc == 0)
		merge->count++;
	return rc;
}

/* A device that is found, whether it was known or not. */
static int merge_found(struct merge *merge, const struct discovery_device *after, struct error *err)
{
	int rc = 0;

	/* Ids are unique; should a node repeat one, its first device counts. */
	if (merge->count > 0 && strcmp(merge->devices[merge->count - 1].id, after->id) == 0)
		return 0;
	rc = device_from_found(after, merge->windows, &merge->devices[merge->count], err);
	if (rc == 0)
		merge->count++;
	return rc;
}

/* Merges two sorted lists: the old table and the devices found now. */
static int merge_all(struct merge *merge, struct error *err)
{
	const struct inventory *inventory = merge->inventory;
	const struct discovery_device **after = merge->found;
	size_t old = 0;
	int rc = 0;

	while (rc == 0 && (old < inventory->device_count || *after != NULL)) {
		int order = 0;

		if (old == inventory->device_count)
			order = 1;
		else if (*after == NULL)
			order = -1;
		else
			order = strcmp(inventory->devices[old].id, (*after)->id);
		if (order < 0 || *after == NULL)
			rc = merge_missing(merge, &inventory->devices[old], err);
		else
			rc = merge_found(merge, *after, err);
		old += order <= 0 ? 1 : 0;
		after += order >= 0 ? 1 : 0;
	}
	return rc;
}

static int merge_check_limits(const struct merge *merge, struct error *err)
{
	uint32_t replicas = merge->inventory->replicas;

	if (merge->count > INVENTORY_DEVICES_MAX)
		return error_set(err, ERROR_LIMIT,
				 "%zu devices are more than the plugin can offer (%d)",
				 merge->count, (int)INVENTORY_DEVICES_MAX);
	if (merge->count * replicas > INVENTORY_IDS_MAX)
		return error_set(err, ERROR_LIMIT,
				 "%zu devices with %u replicas each are more than %d device ids",
				 merge->count, replicas, (int)INVENTORY_IDS_MAX);
	return 0;
}

static void compare(const struct inventory_device *before, const struct inventory_device *after,
		    inventory_event_fn *on_event, void *user)
{
	if (before->resource != after->resource) {
		on_event(INVENTORY_REMOVED, before, user);
		on_event(INVENTORY_APPEARED, after, user);
	} else if (before->found != NULL && after->found == NULL) {
		on_event(INVENTORY_GONE, after, user);
	} else if (before->found == NULL && after->found != NULL) {
		on_event(after->healthy ? INVENTORY_RETURNED : INVENTORY_SICK, after, user);
	} else if (before->healthy != after->healthy) {
		on_event(after->healthy ? INVENTORY_HEALED : INVENTORY_SICK, after, user);
	} else if (before->numa_node != after->numa_node) {
		on_event(INVENTORY_MOVED, after, user);
	}
}

static void tell_changes(const struct inventory_device *old, size_t old_count,
			 const struct inventory_device *new, size_t new_count,
			 inventory_event_fn *on_event, void *user)
{
	size_t i = 0;
	size_t j = 0;

	while (i < old_count || j < new_count) {
		int order =
			i == old_count ? 1 : (j == new_count ? -1 : strcmp(old[i].id, new[j].id));

		if (order < 0) {
			on_event(INVENTORY_REMOVED, &old[i++], user);
		} else if (order > 0) {
			on_event(INVENTORY_APPEARED, &new[j++], user);
		} else {
			compare(&old[i++], &new[j++], on_event, user);
		}
	}
}

int inventory_update(struct inventory *inventory, const struct discovery_snapshot *snapshot,
		     uint64_t now_ms, inventory_event_fn *on_event, void *user, struct error *err)
{
	const struct discovery_device **found CLEANUP_FREE =
		sort_by_id(&inventory->rules, snapshot);
	struct merge merge = {.inventory = inventory,
			      .found = found,
			      .windows = is_windows(snapshot),
			      .now_ms = now_ms};
	struct inventory_device *old_devices = inventory->devices;
	size_t old_count = inventory->device_count;
	int rc = 0;

	merge.devices = calloc(old_count + snapshot->device_count + 1, sizeof(*merge.devices));
	if (found == NULL || merge.devices == NULL) {
		free(merge.devices);
		return error_memory(err);
	}
	rc = merge_all(&merge, err);
	if (rc == 0)
		rc = merge_check_limits(&merge, err);
	if (rc != 0) {
		devices_free(merge.devices, merge.count);
		return rc;
	}
	inventory->devices = merge.devices;
	inventory->device_count = merge.count;
	inventory->recorded = snapshot->recorded;
	inventory->windows = merge.windows;
	inventory->generation++;
	tell_changes(old_devices, old_count, merge.devices, merge.count, on_event, user);
	devices_free(old_devices, old_count);
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

static const struct inventory_device *find(const struct inventory *inventory, const char *id,
					   size_t length)
{
	size_t low = 0;
	size_t high = inventory->device_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *candidate = inventory->devices[middle].id;
		int order = strncmp(candidate, id, length);

		if (order == 0 && candidate[length] == '\0')
			return &inventory->devices[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

int inventory_locate(const struct inventory *inventory, enum inventory_resource resource,
		     const char *id, size_t *device, uint32_t *replica, struct error *err)
{
	char quoted[REPLICA_ID_QUOTED_SIZE];
	const struct inventory_device *found = NULL;
	size_t length = 0;
	uint32_t number = 0;
	int rc = replica_id_parse(id, &length, &number, err);

	if (rc < 0)
		return rc;
	found = find(inventory, id, length);
	if (found == NULL)
		return error_set(err, ERROR_NOT_FOUND, "device id %s names no device of this node",
				 replica_id_quote(id, quoted));
	if (found->resource != resource)
		return error_set(err, ERROR_NOT_FOUND,
				 "device id %s belongs to the %s resource, not to the %s resource",
				 replica_id_quote(id, quoted),
				 inventory_resource_name(found->resource),
				 inventory_resource_name(resource));
	if (number >= inventory->replicas)
		return error_set(err, ERROR_NOT_FOUND,
				 "device id %s: replicas of this device are 0 to %u",
				 replica_id_quote(id, quoted), inventory->replicas - 1);
	*device = (size_t)(found - inventory->devices);
	*replica = number;
	return 0;
}

void inventory_free(struct inventory *inventory)
{
	devices_free(inventory->devices, inventory->device_count);
	inventory->devices = NULL;
	inventory->device_count = 0;
}
