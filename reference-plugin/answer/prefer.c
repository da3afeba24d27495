/* SPDX-License-Identifier: MIT */
#include "reference-plugin/answer/prefer.h"

#include "base/cleanup.h"
#include "reference-plugin/inventory/replica_id.h"

#include <string.h>

enum { PREFER_CONTAINERS_MAX = 256 };

/* NUMA nodes, and one more for devices without one. */
enum { NODE_COUNT = INVENTORY_NUMA_MAX + 2 };

/* What a request says of one id. */
enum mark { MARK_NONE, MARK_AVAILABLE, MARK_MUST };

struct preference_container {
	V1beta1__ContainerPreferredAllocationResponse message;
	char (*ids)[REPLICA_ID_SIZE];
};

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
	size_t size;		      /* ids that are still to be chosen */
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

static void mark(struct choice *choice, size_t slot, enum mark as)
{
	struct candidate *candidate = &choice->candidates[slot / choice->inventory->replicas];

	if (choice->marks[slot] != MARK_NONE)
		return;
	choice->marks[slot] = (uint8_t)as;
	*(as == MARK_MUST ? &candidate->taken : &candidate->available) += 1;
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
		must += choice->marks[slot] == MARK_NONE ? 1 : 0;
		mark(choice, slot, MARK_MUST);
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
			mark(choice, slot, MARK_AVAILABLE);
	}
	return 0;
}

static void take(struct choice *choice, struct candidate *candidate, size_t count)
{
	candidate->available -= count;
	candidate->taken += count;
	choice->size -= count;
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
	bool suffices = false;

	for (size_t i = 0; i < choice->inventory->device_count; i++) {
		const struct candidate *candidate = &choice->candidates[i];

		if (candidate->node != node)
			continue;
		available += (long long)candidate->available;
		devices += candidate->available > 0 ? 1 : 0;
		taken = taken || candidate->taken > 0;
	}
	suffices = available >= (long long)choice->size;
	if (available == 0)
		return (struct rank){{-1}};
	return (struct rank){{taken, suffices, suffices && !pack ? devices : 0,
			      suffices && pack ? -available : available}};
}

static size_t best_node(const struct choice *choice)
{
	struct rank best = {{-1}};
	size_t found = NODE_COUNT;

	for (size_t i = 0; i < NODE_COUNT; i++) {
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

static void choose_by_node(struct choice *choice)
{
	size_t node = 0;

	while (choice->size > 0 && (node = best_node(choice)) != NODE_COUNT) {
		struct candidate *candidate = NULL;

		while (choice->size > 0 && (candidate = best_device(choice, node)) != NULL)
			take(choice, candidate, 1);
	}
}

/* From one device alone, the one on which something is taken already, as far as one has enough. Of
 * several devices a container of Windows would be refused, or see the first one alone. */
static void choose_one_device(struct choice *choice)
{
	bool pack = choice->policy == PREFER_PACK;
	struct candidate *found = NULL;
	struct rank best = {{-1}};
	size_t taken_from = 0;

	for (size_t i = 0; i < choice->inventory->device_count; i++)
		taken_from += choice->candidates[i].taken > 0 ? 1 : 0;
	for (size_t i = 0; taken_from <= 1 && i < choice->inventory->device_count; i++) {
		struct candidate *candidate = &choice->candidates[i];
		long long available = (long long)candidate->available;
		struct rank rank = {{0, pack ? -available : available}};

		if (candidate->available >= choice->size &&
		    (taken_from == 0 || candidate->taken > 0) && outranks(rank, best)) {
			best = rank;
			found = candidate;
		}
	}
	if (found != NULL)
		take(choice, found, choice->size);
}

/* Names the replicas: those that must be included, then the lowest that are available. */
static void add_ids(const struct choice *choice, struct preference_container *out)
{
	uint32_t replicas = choice->inventory->replicas;

	for (size_t i = 0; i < choice->inventory->device_count; i++) {
		const uint8_t *marks = &choice->marks[i * replicas];
		size_t left = choice->candidates[i].taken;

		for (uint32_t replica = 0; replica < replicas; replica++)
			left -= marks[replica] == MARK_MUST ? 1 : 0;
		for (uint32_t replica = 0; replica < replicas; replica++) {
			char *id = out->ids[out->message.n_deviceids];

			if (marks[replica] == MARK_NONE ||
			    (marks[replica] == MARK_AVAILABLE && left == 0))
				continue;
			left -= marks[replica] == MARK_AVAILABLE ? 1 : 0;
			replica_id_format(choice->inventory->devices[i].id, replica, id);
			out->message.deviceids[out->message.n_deviceids++] = id;
		}
	}
}

static int choose(struct choice *choice,
		  const V1beta1__ContainerPreferredAllocationRequest *request,
		  struct preference_container *out, struct error *err)
{
	const struct inventory *inventory = choice->inventory;
	size_t total = 0;
	int rc = 0;

	for (size_t i = 0; i < inventory->device_count; i++) {
		int32_t numa_node = inventory->devices[i].numa_node;

		choice->candidates[i].node =
			numa_node == DISCOVERY_UNKNOWN ? NODE_COUNT - 1 : (size_t)numa_node;
	}
	rc = read_request(choice, request, err);
	if (rc < 0)
		return rc;
	if (inventory->windows)
		choose_one_device(choice);
	choose_by_node(choice);
	for (size_t i = 0; i < inventory->device_count; i++)
		total += choice->candidates[i].taken;
	out->ids = calloc(total + 1, sizeof(*out->ids));
	out->message.deviceids = calloc(total + 1, sizeof(char *));
	if (out->ids == NULL || out->message.deviceids == NULL)
		return error_memory(err);
	add_ids(choice, out);
	return 0;
}

static int prefer_container(const struct inventory *inventory, enum inventory_resource resource,
			    enum prefer_policy policy,
			    const V1beta1__ContainerPreferredAllocationRequest *request,
			    struct preference_container *out, struct error *err)
{
	uint8_t *marks CLEANUP_FREE = calloc(inventory->device_count + 1, inventory->replicas);
	struct candidate *candidates CLEANUP_FREE =
		calloc(inventory->device_count + 1, sizeof(*candidates));
	struct choice choice = {.inventory = inventory,
				.resource = resource,
				.policy = policy,
				.marks = marks,
				.candidates = candidates};

	return marks != NULL && candidates != NULL ? choose(&choice, request, out, err)
						   : error_memory(err);
}

int prefer(const struct inventory *inventory, enum inventory_resource resource,
	   enum prefer_policy policy, const V1beta1__PreferredAllocationRequest *request,
	   struct preference *out, struct error *err)
{
	size_t count = request->n_container_requests;
	int rc = 0;

	v1beta1__preferred_allocation_response__init(&out->message);
	if (count > PREFER_CONTAINERS_MAX)
		return error_set(err, ERROR_ARGUMENT, "%zu containers in one call are more than %d",
				 count, (int)PREFER_CONTAINERS_MAX);
	out->containers = calloc(count + 1, sizeof(*out->containers));
	out->message.container_responses =
		calloc(count + 1, sizeof(V1beta1__ContainerPreferredAllocationResponse *));
	if (out->containers == NULL || out->message.container_responses == NULL)
		return error_memory(err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct preference_container *container = &out->containers[i];

		v1beta1__container_preferred_allocation_response__init(&container->message);
		out->message.container_responses[i] = &container->message;
		out->message.n_container_responses = i + 1;
		rc = prefer_container(inventory, resource, policy, request->container_requests[i],
				      container, err);
	}
	return rc;
}

void preference_free(struct preference *preference)
{
	for (size_t i = 0; i < preference->message.n_container_responses; i++) {
		free(preference->containers[i].message.deviceids);
		free(preference->containers[i].ids);
	}
	free(preference->message.container_responses);
	free(preference->containers);
	*preference = (struct preference){0};
}
