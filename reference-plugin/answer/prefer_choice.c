/* SPDX-License-Identifier: MIT */
#include "reference-plugin/answer/prefer_choice.h"

enum { NODE_SLOTS = INVENTORY_NUMA_MAX + 2 };

/* What one NUMA node offers; the last slot is for devices without one. */
struct node {
	size_t available; /* replicas */
	size_t devices;	  /* with an available replica */
	size_t taken;
};

static size_t slot_of(const struct prefer_device *device)
{
	return device->numa_node == DISCOVERY_UNKNOWN ? NODE_SLOTS - 1 : (size_t)device->numa_node;
}

static void count_nodes(const struct prefer_device *devices, size_t count,
			struct node nodes[NODE_SLOTS])
{
	for (size_t i = 0; i < count; i++) {
		struct node *node = &nodes[slot_of(&devices[i])];

		node->available += devices[i].available;
		node->devices += devices[i].available > 0 ? 1 : 0;
		node->taken += devices[i].taken;
	}
}

/* A node on which something is taken, then one that can give all of `size`, then the one that gives
 * most. Of several that can give all, spread takes the one with most devices, pack the one with
 * least to spare. */
static bool node_is_better(const struct node *a, const struct node *b, size_t size,
			   enum prefer_policy policy)
{
	bool a_suffices = a->available >= size;
	bool b_suffices = b->available >= size;

	if ((a->taken > 0) != (b->taken > 0))
		return a->taken > 0;
	if (a_suffices != b_suffices)
		return a_suffices;
	if (!a_suffices)
		return a->available > b->available;
	if (policy == PREFER_PACK)
		return a->available < b->available;
	if (a->devices != b->devices)
		return a->devices > b->devices;
	return a->available > b->available;
}

static size_t best_node(const struct node nodes[NODE_SLOTS], size_t size, enum prefer_policy policy)
{
	size_t best = NODE_SLOTS;

	for (size_t i = 0; i < NODE_SLOTS; i++) {
		if (nodes[i].available > 0 &&
		    (best == NODE_SLOTS || node_is_better(&nodes[i], &nodes[best], size, policy)))
			best = i;
	}
	return best;
}

static bool device_is_better(const struct prefer_device *a, const struct prefer_device *b,
			     size_t size, enum prefer_policy policy)
{
	bool a_suffices = a->available >= size;
	bool b_suffices = b->available >= size;

	if (policy == PREFER_SPREAD)
		return a->taken != b->taken ? a->taken < b->taken : a->available > b->available;
	if ((a->taken > 0) != (b->taken > 0))
		return a->taken > 0;
	if (a_suffices != b_suffices)
		return a_suffices;
	return a_suffices ? a->available < b->available : a->available > b->available;
}

static struct prefer_device *best_device(struct prefer_device *devices, size_t count, size_t slot,
					 size_t size, enum prefer_policy policy)
{
	struct prefer_device *best = NULL;

	for (size_t i = 0; i < count; i++) {
		if (devices[i].available > 0 && slot_of(&devices[i]) == slot &&
		    (best == NULL || device_is_better(&devices[i], best, size, policy)))
			best = &devices[i];
	}
	return best;
}

void prefer_choose(struct prefer_device *devices, size_t count, size_t size,
		   enum prefer_policy policy)
{
	while (size > 0) {
		struct node nodes[NODE_SLOTS] = {0};
		size_t slot = 0;
		struct prefer_device *device = NULL;

		count_nodes(devices, count, nodes);
		slot = best_node(nodes, size, policy);
		if (slot == NODE_SLOTS)
			return;
		for (; size > 0; size--) {
			device = best_device(devices, count, slot, size, policy);
			if (device == NULL)
				break;
			device->available--;
			device->taken++;
		}
	}
}

static bool one_is_better(const struct prefer_device *a, const struct prefer_device *b,
			  enum prefer_policy policy)
{
	if (a->taken != b->taken)
		return a->taken > b->taken;
	return policy == PREFER_PACK ? a->available < b->available : a->available > b->available;
}

bool prefer_choose_one(struct prefer_device *devices, size_t count, size_t size,
		       enum prefer_policy policy)
{
	struct prefer_device *best = NULL;
	size_t taken_from = 0;

	for (size_t i = 0; i < count; i++)
		taken_from += devices[i].taken > 0 ? 1 : 0;
	for (size_t i = 0; i < count; i++) {
		struct prefer_device *device = &devices[i];

		if (device->available < size || (taken_from > 0 && device->taken == 0))
			continue;
		if (best == NULL || one_is_better(device, best, policy))
			best = device;
	}
	if (best == NULL || taken_from > 1)
		return false;
	best->available -= (uint32_t)size;
	best->taken += (uint32_t)size;
	return true;
}
