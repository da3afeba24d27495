/* SPDX-License-Identifier: MIT */
#include "reference-plugin/answer/prefer.h"

#include "base/cleanup.h"
#include "reference-plugin/inventory/wire.h"

#include <string.h>

enum { PREFER_CONTAINERS_MAX = 256 };

/* NUMA nodes, and one more for devices without one. */
enum { NUMA_NODES = INVENTORY_NUMA_MAX + 2 };

/* What a request says of one id. */
enum mark { MARK_NONE, MARK_AVAILABLE, MARK_MUST };

struct candidate {
	size_t node;
	size_t available; /* replicas that may still be taken */
	size_t taken;	  /* replicas in the answer; at first those that must be included */
};

/* One container's question. */
struct choice {
	const struct inventory *inventory;
	enum inventory_resource resource;
	enum prefer_policy policy;
	uint8_t *marks;		      /* enum mark of each slot of the inventory */
	struct candidate *candidates; /* one a device */
	size_t node_count;
	size_t size; /* ids that are still to be chosen */
};

/* Compared from the first number on; the greater one is chosen. */
struct rank {
	long long key[4];
};

static bool outranks(struct rank a, struct rank b)
{
	size_t i = 0;
	while (i + 1 < ARRAY_SIZE(a.key) && a.key[i] == b.key[i])
		i++;
	return a.key[i] > b.key[i];
}

/* False when the id was marked before. */
static bool mark(struct choice *choice, size_t slot, enum mark as)
{
	struct candidate *candidate = &choice->candidates[slot / choice->inventory->replicas];
	if (choice->marks[slot] != MARK_NONE)
		return false;
	choice->marks[slot] = (uint8_t)as;
	*(as == MARK_MUST ? &candidate->taken : &candidate->available) += 1;
	return true;
}

static int read_request(struct choice *choice,
			const V1beta1__ContainerPreferredAllocationRequest *request,
			struct error *err)
{
	const struct inventory *inventory = choice->inventory;
	size_t slot = 0;
	size_t must = 0;
	for (size_t i = 0; i < request->n_must_include_deviceids; i++) {
		int rc = inventory_locate(inventory, choice->resource,
					  request->must_include_deviceids[i], &slot, err);
		if (rc < 0)
			return error_wrap(err, rc, "must be included");
		must += mark(choice, slot, MARK_MUST) ? 1 : 0;
	}
	if (request->allocation_size < 0 || (size_t)request->allocation_size < must)
		return error_set(
			err, ERROR_ARGUMENT,
			"allocation size %d is too small for %zu ids that must be included",
			request->allocation_size, must);
	choice->size = (size_t)request->allocation_size - must;
	for (size_t i = 0; i < request->n_available_deviceids; i++) {
		if (inventory_locate(inventory, choice->resource, request->available_deviceids[i],
				     &slot, NULL) == 0 &&
		    inventory->devices[slot / inventory->replicas].healthy)
			(void)mark(choice, slot, MARK_AVAILABLE);
	}
	return 0;
}

/* A node on which something is taken, then one that can give all, then the one that gives most. Of
 * several that can give all, spread takes the one with most devices, pack the one with least to
 * spare. */
static struct rank rank_node(const struct choice *choice, size_t node)
{
	bool pack = choice->policy == PREFER_PACK;
	long long available = 0;
	long long devices = 0;
	bool taken = false;
	for (size_t i = 0; i < choice->inventory->device_count; i++) {
		const struct candidate *candidate = &choice->candidates[i];
		if (candidate->node != node)
			continue;
		available += (long long)candidate->available;
		devices += candidate->available > 0 ? 1 : 0;
		taken = taken || candidate->taken > 0;
	}
	bool suffices = available >= (long long)choice->size;
	if (available == 0)
		return (struct rank){{-1}};
	return (struct rank){{taken, suffices, suffices && !pack ? devices : 0,
			      suffices && pack ? -available : available}};
}

static size_t best_node(const struct choice *choice)
{
	struct rank best = {{-1}};
	size_t found = choice->node_count;
	for (size_t i = 0; i < choice->node_count; i++) {
		struct rank rank = rank_node(choice, i);
		if (outranks(rank, best)) {
			best = rank;
			found = i;
		}
	}
	return found;
}

static struct rank rank_device(const struct choice *choice, const struct candidate *candidate)
{
	long long taken = (long long)candidate->taken;
	long long available = (long long)candidate->available;
	bool suffices = candidate->available >= choice->size;
	if (choice->policy == PREFER_SPREAD)
		return (struct rank){{0, -taken, available}};
	return (struct rank){{taken > 0, suffices, suffices ? -available : available}};
}

static struct candidate *best_device(const struct choice *choice, size_t node)
{
	struct candidate *found = NULL;
	struct rank best = {{-1}};
	for (size_t i = 0; i < choice->inventory->device_count; i++) {
		struct candidate *candidate = &choice->candidates[i];
		struct rank rank = rank_device(choice, candidate);
		if (candidate->available > 0 && candidate->node == node && outranks(rank, best)) {
			best = rank;
			found = candidate;
		}
	}
	return found;
}

static void take_all(struct choice *choice)
{
	size_t node = 0;
	while (choice->size > 0 && (node = best_node(choice)) != choice->node_count) {
		struct candidate *candidate = NULL;
		while (choice->size > 0 && (candidate = best_device(choice, node)) != NULL) {
			candidate->available--;
			candidate->taken++;
			choice->size--;
		}
	}
}

/* Can one device give everything, the one on which something is taken already? Of several devices
 * a container of Windows would be refused, or see the first one alone. */
static bool one_device_suffices(const struct choice *choice)
{
	size_t taken_from = 0;
	bool any = false;
	bool taken = false;
	for (size_t i = 0; i < choice->inventory->device_count; i++) {
		const struct candidate *candidate = &choice->candidates[i];
		bool suffices = candidate->available >= choice->size;
		any = any || suffices;
		taken = taken || (suffices && candidate->taken > 0);
		taken_from += candidate->taken > 0 ? 1 : 0;
	}
	return taken_from == 0 ? any : taken_from == 1 && taken;
}

/* On Windows each device counts as a NUMA node of its own, if one is enough. */
static void find_nodes(struct choice *choice)
{
	const struct inventory *inventory = choice->inventory;
	bool apart = inventory->windows && one_device_suffices(choice);
	choice->node_count = apart ? inventory->device_count : NUMA_NODES;
	for (size_t i = 0; i < inventory->device_count; i++) {
		int32_t node = inventory->devices[i].numa_node;
		choice->candidates[i].node = apart			 ? i
					     : node == DISCOVERY_UNKNOWN ? NUMA_NODES - 1
									 : (size_t)node;
	}
}

/* Names the replicas: those that must be included, then the lowest that are available. */
static int add_ids(const struct choice *choice, V1beta1__ContainerPreferredAllocationResponse *out,
		   struct error *err)
{
	uint32_t replicas = choice->inventory->replicas;
	for (size_t i = 0; i < choice->inventory->device_count; i++) {
		const uint8_t *marks = &choice->marks[i * replicas];
		size_t left = choice->candidates[i].taken;
		for (uint32_t replica = 0; replica < replicas; replica++)
			left -= marks[replica] == MARK_MUST ? 1 : 0;
		for (uint32_t replica = 0; replica < replicas; replica++) {
			char id[REPLICA_ID_SIZE];
			if (marks[replica] == MARK_NONE ||
			    (marks[replica] == MARK_AVAILABLE && left == 0))
				continue;
			left -= marks[replica] == MARK_AVAILABLE ? 1 : 0;
			replica_id_format(choice->inventory->devices[i].id, replica, id);
			out->deviceids[out->n_deviceids] = strdup(id);
			if (out->deviceids[out->n_deviceids++] == NULL)
				return error_memory(err);
		}
	}
	return 0;
}

static int prefer_container(struct choice *choice,
			    const V1beta1__ContainerPreferredAllocationRequest *request,
			    V1beta1__ContainerPreferredAllocationResponse *out, struct error *err)
{
	size_t devices = choice->inventory->device_count;
	uint8_t *marks CLEANUP_FREE = calloc(devices + 1, choice->inventory->replicas);
	struct candidate *candidates CLEANUP_FREE = calloc(devices + 1, sizeof(*candidates));
	size_t total = 0;
	if (marks == NULL || candidates == NULL)
		return error_memory(err);
	choice->marks = marks;
	choice->candidates = candidates;
	int rc = read_request(choice, request, err);
	if (rc < 0)
		return rc;
	find_nodes(choice);
	take_all(choice);
	for (size_t i = 0; i < devices; i++)
		total += candidates[i].taken;
	out->deviceids = calloc(total + 1, sizeof(char *));
	return out->deviceids != NULL ? add_ids(choice, out, err) : error_memory(err);
}

int prefer(const struct inventory *inventory, enum inventory_resource resource,
	   enum prefer_policy policy, const V1beta1__PreferredAllocationRequest *request,
	   V1beta1__PreferredAllocationResponse **out, struct error *err)
{
	struct choice choice = {.inventory = inventory, .resource = resource, .policy = policy};
	size_t count = request->n_container_requests;
	V1beta1__PreferredAllocationResponse *response = malloc(sizeof(*response));
	int rc = 0;
	*out = response;
	if (response == NULL)
		return error_memory(err);
	v1beta1__preferred_allocation_response__init(response);
	if (count > PREFER_CONTAINERS_MAX)
		return error_set(err, ERROR_ARGUMENT, "%zu containers in one call are more than %d",
				 count, (int)PREFER_CONTAINERS_MAX);
	response->container_responses =
		calloc(count + 1, sizeof(V1beta1__ContainerPreferredAllocationResponse *));
	if (response->container_responses == NULL)
		return error_memory(err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		V1beta1__ContainerPreferredAllocationResponse *container =
			malloc(sizeof(*container));
		if (container == NULL)
			return error_memory(err);
		v1beta1__container_preferred_allocation_response__init(container);
		response->container_responses[response->n_container_responses++] = container;
		rc = prefer_container(&choice, request->container_requests[i], container, err);
	}
	return rc;
}
