/* SPDX-License-Identifier: MIT */
#include "reference-plugin/answer/prefer.h"

#include "base/cleanup.h"
#include "reference-plugin/answer/prefer_choice.h"
#include "reference-plugin/inventory/replica_id.h"
#include "reference-plugin/inventory/replica_set.h"

enum { PREFER_CONTAINERS_MAX = 256 };

struct preference_container {
	V1beta1__ContainerPreferredAllocationResponse message;
	char (*ids)[REPLICA_ID_SIZE];
};

static void read_available(const struct inventory *inventory, enum inventory_resource resource,
			   const V1beta1__ContainerPreferredAllocationRequest *request,
			   struct replica_set *available)
{
	for (size_t i = 0; i < request->n_available_deviceids; i++) {
		size_t device = 0;
		uint32_t replica = 0;
		int rc = inventory_locate(inventory, resource, request->available_deviceids[i],
					  &device, &replica, NULL);

		if (rc == 0 && inventory->devices[device].healthy)
			(void)replica_set_add(available, device, replica);
	}
}

static int read_wanted(const struct inventory *inventory, enum inventory_resource resource,
		       const V1beta1__ContainerPreferredAllocationRequest *request,
		       struct replica_set *wanted, size_t *count, struct error *err)
{
	for (size_t i = 0; i < request->n_must_include_deviceids; i++) {
		size_t device = 0;
		uint32_t replica = 0;
		int rc = inventory_locate(inventory, resource, request->must_include_deviceids[i],
					  &device, &replica, err);

		if (rc < 0)
			return error_wrap(err, rc, "must be included");
		*count += replica_set_add(wanted, device, replica) ? 1 : 0;
	}
	if (request->allocation_size < 0 || (size_t)request->allocation_size < *count)
		return error_set(
			err, ERROR_ARGUMENT,
			"allocation size %d is too small for %zu ids that must be included",
			request->allocation_size, *count);
	return 0;
}

/* NULL when memory ran out. */
static struct prefer_device *new_devices(const struct inventory *inventory,
					 const struct replica_set *available,
					 const struct replica_set *wanted)
{
	struct prefer_device *devices = calloc(inventory->device_count + 1, sizeof(*devices));

	for (size_t i = 0; devices != NULL && i < inventory->device_count; i++) {
		devices[i].numa_node = inventory->devices[i].numa_node;
		devices[i].taken = replica_set_count(wanted, i);
		if (replica_set_count(available, i) == 0)
			continue;
		for (uint32_t replica = 0; replica < inventory->replicas; replica++) {
			if (replica_set_has(available, i, replica) &&
			    !replica_set_has(wanted, i, replica))
				devices[i].available++;
		}
	}
	return devices;
}

static int add_id(struct preference_container *out, const struct inventory_device *device,
		  uint32_t replica, struct error *err)
{
	size_t at = out->message.n_deviceids;
	int rc = replica_id_format(device->id, replica, out->ids[at], err);

	if (rc < 0)
		return rc;
	out->message.deviceids[at] = out->ids[at];
	out->message.n_deviceids++;
	return 0;
}

/* Which replicas of a device: those that must be included, then the lowest that are available. */
static int name_replicas(const struct inventory *inventory, size_t index, uint32_t take,
			 const struct replica_set *available, const struct replica_set *wanted,
			 struct preference_container *out, struct error *err)
{
	uint32_t more = take - replica_set_count(wanted, index);

	for (uint32_t replica = 0; take > 0 && replica < inventory->replicas; replica++) {
		bool must = replica_set_has(wanted, index, replica);
		int rc = 0;

		if (!must && (more == 0 || !replica_set_has(available, index, replica)))
			continue;
		more -= must ? 0 : 1;
		rc = add_id(out, &inventory->devices[index], replica, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Of several devices a container of Windows would be refused, or see the first one alone. */
static void choose(const struct inventory *inventory, struct prefer_device *devices, size_t size,
		   enum prefer_policy policy)
{
	size_t count = inventory->device_count;

	if (!inventory->windows || !prefer_choose_one(devices, count, size, policy))
		prefer_choose(devices, count, size, policy);
}

static int prefer_container(const struct inventory *inventory, enum inventory_resource resource,
			    enum prefer_policy policy,
			    const V1beta1__ContainerPreferredAllocationRequest *request,
			    struct preference_container *out, struct error *err)
{
	struct replica_set available CLEANUP(replica_set_free) = {0};
	struct replica_set wanted CLEANUP(replica_set_free) = {0};
	struct prefer_device *devices CLEANUP_FREE = NULL;
	size_t must = 0;
	size_t total = 0;
	int rc = replica_set_init(&available, inventory, err);

	if (rc == 0)
		rc = replica_set_init(&wanted, inventory, err);
	if (rc != 0)
		return rc;
	read_available(inventory, resource, request, &available);
	rc = read_wanted(inventory, resource, request, &wanted, &must, err);
	if (rc != 0)
		return rc;
	devices = new_devices(inventory, &available, &wanted);
	if (devices == NULL)
		return error_memory(err);
	choose(inventory, devices, (size_t)request->allocation_size - must, policy);
	for (size_t i = 0; i < inventory->device_count; i++)
		total += devices[i].taken;
	out->ids = calloc(total + 1, sizeof(*out->ids));
	out->message.deviceids = calloc(total + 1, sizeof(char *));
	if (out->ids == NULL || out->message.deviceids == NULL)
		return error_memory(err);
	for (size_t i = 0; rc == 0 && i < inventory->device_count; i++)
		rc = name_replicas(inventory, i, devices[i].taken, &available, &wanted, out, err);
	return rc;
}

int prefer(const struct inventory *inventory, enum inventory_resource resource,
	   enum prefer_policy policy, const V1beta1__PreferredAllocationRequest *request,
	   struct preference *out, struct error *err)
{
	size_t count = request->n_container_requests;

	v1beta1__preferred_allocation_response__init(&out->message);
	if (count > PREFER_CONTAINERS_MAX)
		return error_set(err, ERROR_ARGUMENT, "%zu containers in one call are more than %d",
				 count, (int)PREFER_CONTAINERS_MAX);
	out->containers = calloc(count + 1, sizeof(*out->containers));
	out->message.container_responses =
		calloc(count + 1, sizeof(V1beta1__ContainerPreferredAllocationResponse *));
	if (out->containers == NULL || out->message.container_responses == NULL)
		return error_memory(err);
	for (size_t i = 0; i < count; i++) {
		struct preference_container *container = &out->containers[i];
		int rc = 0;

		v1beta1__container_preferred_allocation_response__init(&container->message);
		out->message.container_responses[i] = &container->message;
		out->message.n_container_responses = i + 1;
		rc = prefer_container(inventory, resource, policy, request->container_requests[i],
				      container, err);
		if (rc < 0)
			return rc;
	}
	return 0;
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
