/* SPDX-License-Identifier: MIT */
#include "reference-plugin/answer/calls.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <string.h>

/* NUMA nodes, and one more for devices without one. */
enum { NUMA_NODES = INVENTORY_NUMA_MAX + 2 };

/* The state of one id. */
enum mark { MARK_NONE, MARK_AVAILABLE, MARK_TAKEN };

struct candidate {
	size_t node;
	size_t available; /* replicas that may still be taken */
	size_t taken;	  /* replicas in the answer; at first those that must be included */
};

/* The choice for one container. */
struct choice {
	const struct inventory *inventory;
	enum inventory_resource resource;
	enum prefer_policy policy;
	uint8_t *marks;		      /* an enum mark for each slot of the inventory */
	struct candidate *candidates; /* one for each device */
	size_t node_count;
	size_t node; /* the NUMA node from which devices are chosen */
	size_t size; /* ids that are still to be chosen */
};

/* Compared lexicographically; the greatest is chosen, unless its first number is negative. */
struct rank {
	long long key[4];
};

/* The first candidate with the greatest rank; `count`: none. */
static size_t best(const struct choice *choice, size_t count,
		   struct rank (*rank_of)(const struct choice *choice, size_t index))
{
	struct rank highest = {{-1}};
	size_t found = count;
	for (size_t i = 0; i < count; i++) {
		struct rank rank = rank_of(choice, i);
		size_t differs = 0;
		while (differs + 1 < ARRAY_SIZE(rank.key) &&
		       rank.key[differs] == highest.key[differs])
			differs++;
		if (rank.key[differs] > highest.key[differs]) {
			highest = rank;
			found = i;
		}
	}
	return found;
}

/* False when the id was marked before. */
static bool mark(struct choice *choice, size_t slot, enum mark as)
{
	struct candidate *candidate = &choice->candidates[slot / choice->inventory->replicas];
	if (choice->marks[slot] != MARK_NONE)
		return false;
	choice->marks[slot] = (uint8_t)as;
	*(as == MARK_TAKEN ? &candidate->taken : &candidate->available) += 1;
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
		must += mark(choice, slot, MARK_TAKEN) ? 1 : 0;
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

/* Prefers a node in use, then one that can provide everything, then the one that provides most.
 * Among several that can provide everything, spread takes the one with most devices, pack the one
 * with least to spare. */
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

static struct rank rank_device(const struct choice *choice, size_t index)
{
	const struct candidate *candidate = &choice->candidates[index];
	long long taken = (long long)candidate->taken;
	long long available = (long long)candidate->available;
	bool suffices = candidate->available >= choice->size;
	if (available == 0 || candidate->node != choice->node)
		return (struct rank){{-1}};
	if (choice->policy == PREFER_SPREAD)
		return (struct rank){{0, -taken, available}};
	return (struct rank){{taken > 0, suffices, suffices ? -available : available}};
}

static void take_all(struct choice *choice)
{
	const size_t replicas = choice->inventory->replicas;
	const size_t devices = choice->inventory->device_count;
	while (choice->size > 0) {
		choice->node = best(choice, choice->node_count, rank_node);
		if (choice->node == choice->node_count)
			return;
		while (choice->size > 0) {
			const size_t device = best(choice, devices, rank_device);
			if (device == devices) /* the node has no more */
				break;
			/* The lowest free replica of the best device. */
			uint8_t *slot =
				memchr(&choice->marks[device * replicas], MARK_AVAILABLE, replicas);
			*slot = MARK_TAKEN;
			choice->candidates[device].available--;
			choice->candidates[device].taken++;
			choice->size--;
		}
	}
}

static void find_nodes(struct choice *choice, bool apart)
{
	const struct inventory *inventory = choice->inventory;
	choice->node_count = apart ? inventory->device_count : NUMA_NODES;
	for (size_t i = 0; i < inventory->device_count; i++) {
		int32_t numa = inventory->devices[i].numa_node;
		size_t node = numa == DISCOVERY_UNKNOWN ? NUMA_NODES - 1 : (size_t)numa;
		choice->candidates[i].node = apart ? i : node;
	}
}

/* Treats each device as a node of its own: can one, the one in use if any, provide everything? A
 * Windows container with several devices would be refused, or see only the first. */
static bool one_device_suffices(const struct choice *choice)
{
	size_t one = best(choice, choice->node_count, rank_node);
	for (size_t i = 0; i < choice->node_count; i++) {
		if (i != one && choice->candidates[i].taken > 0)
			return false;
	}
	return one < choice->node_count && choice->candidates[one].available >= choice->size;
}

static int prefer_container(struct choice *choice,
			    const V1beta1__ContainerPreferredAllocationRequest *request,
			    V1beta1__ContainerPreferredAllocationResponse *out, struct error *err)
{
	const struct inventory *inventory = choice->inventory;
	const size_t replicas = inventory->replicas;
	uint8_t *marks CLEANUP_FREE = memory_allocate(inventory->device_count + 1, replicas);
	struct candidate *candidates CLEANUP_FREE =
		memory_allocate(inventory->device_count + 1, sizeof(*candidates));
	if (marks == NULL || candidates == NULL)
		return error_memory(err);
	choice->marks = marks;
	choice->candidates = candidates;
	int rc = read_request(choice, request, err);
	if (rc < 0)
		return rc;
	find_nodes(choice, inventory->windows);
	if (inventory->windows && !one_device_suffices(choice))
		find_nodes(choice, false);
	take_all(choice);

	out->deviceids = memory_allocate((size_t)request->allocation_size - choice->size + 1,
					 sizeof(char *));
	if (out->deviceids == NULL)
		return error_memory(err);
	for (size_t slot = 0; slot < inventory->device_count * replicas; slot++) {
		char id[REPLICA_ID_SIZE];
		if (marks[slot] != MARK_TAKEN)
			continue;
		replica_id_format(inventory->devices[slot / replicas].id,
				  (uint32_t)(slot % replicas), id);
		out->deviceids[out->n_deviceids] = memory_copy(id);
		if (out->deviceids[out->n_deviceids++] == NULL)
			return error_memory(err);
	}
	return 0;
}

int prefer(const struct inventory *inventory, enum inventory_resource resource,
	   enum prefer_policy policy, const V1beta1__PreferredAllocationRequest *request,
	   V1beta1__PreferredAllocationResponse **out, struct error *err)
{
	struct choice choice = {.inventory = inventory, .resource = resource, .policy = policy};
	size_t count = request->n_container_requests;
	const unsigned failures = memory_failures();
	V1beta1__PreferredAllocationResponse *response = memory_allocate(1, sizeof(*response));
	int rc = 0;
	*out = response;
	if (response == NULL)
		return error_memory(err);
	v1beta1__preferred_allocation_response__init(response);
	if (count > CALL_CONTAINERS_MAX)
		return error_set(err, ERROR_ARGUMENT, "%zu containers in one call are more than %d",
				 count, (int)CALL_CONTAINERS_MAX);
	response->container_responses =
		memory_allocate(count + 1, sizeof(V1beta1__ContainerPreferredAllocationResponse *));
	if (response->container_responses == NULL)
		return error_memory(err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		V1beta1__ContainerPreferredAllocationResponse *container =
			memory_allocate(1, sizeof(*container));
		if (container == NULL)
			return error_memory(err);
		v1beta1__container_preferred_allocation_response__init(container);
		response->container_responses[response->n_container_responses++] = container;
		rc = prefer_container(&choice, request->container_requests[i], container, err);
	}
	return memory_failures() == failures ? rc : error_memory(err);
}
