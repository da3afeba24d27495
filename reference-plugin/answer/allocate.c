/* SPDX-License-Identifier: MIT */
#include "reference-plugin/answer/calls.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <string.h>

static int answer_container(const struct inventory *inventory, enum inventory_resource resource,
			    const struct answer_rules *rules,
			    const V1beta1__ContainerAllocateRequest *container, struct answer *out,
			    struct error *err)
{
	const size_t replicas = inventory->replicas;
	bool *chosen CLEANUP_FREE =
		memory_allocate(inventory->device_count + 1, replicas * sizeof(*chosen));
	const struct discovery_device **devices CLEANUP_FREE =
		memory_allocate(inventory->device_count + 1, sizeof(struct discovery_device *));
	struct answer_request request = {.windows = inventory->windows,
					 .recorded = inventory->recorded,
					 .root = inventory->root,
					 .rules = rules,
					 .devices = devices};
	if (chosen == NULL || devices == NULL)
		return error_memory(err);
	if (container->n_devices_ids == 0)
		return error_set(err, ERROR_ARGUMENT, "a container asks for no device id");
	for (size_t i = 0; i < container->n_devices_ids; i++) {
		const char *id = container->devices_ids[i];
		size_t slot = 0;
		int rc = inventory_locate(inventory, resource, id, &slot, err);
		if (rc < 0)
			return rc;
		const struct inventory_device *device = &inventory->devices[slot / replicas];
		if (!device->healthy)
			return replica_id_error(err, ERROR_UNAVAILABLE, id, " is unhealthy: %s",
						device->reason);
		if (chosen[slot])
			return replica_id_error(err, ERROR_ARGUMENT, id, " is asked for twice");
		chosen[slot] = true;
	}

	/* Each device once, sorted by id. */
	for (size_t i = 0; i < inventory->device_count; i++) {
		if (memchr(&chosen[i * replicas], 1, replicas) != NULL)
			devices[request.count++] = inventory->devices[i].found;
	}
	return answer_build(&request, out, err);
}

int allocate(const struct inventory *inventory, enum inventory_resource resource,
	     const struct answer_rules *rules, const V1beta1__AllocateRequest *request,
	     struct allocation *out, struct error *err)
{
	size_t count = request->n_container_requests;
	const unsigned failures = memory_failures();
	int rc = 0;
	v1beta1__allocate_response__init(&out->message);
	if (count > CALL_CONTAINERS_MAX)
		return error_set(err, ERROR_ARGUMENT, "%zu containers in one call are more than %d",
				 count, (int)CALL_CONTAINERS_MAX);
	out->answers = memory_allocate(count + 1, sizeof(*out->answers));
	out->message.container_responses =
		memory_allocate(count + 1, sizeof(V1beta1__ContainerAllocateResponse *));
	if (out->answers == NULL || out->message.container_responses == NULL)
		return error_memory(err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		out->message.container_responses[i] = &out->answers[i].message;
		out->message.n_container_responses = i + 1;
		rc = answer_container(inventory, resource, rules, request->container_requests[i],
				      &out->answers[i], err);
	}
	return memory_failures() == failures ? rc : error_memory(err);
}

void allocation_free(struct allocation *allocation)
{
	for (size_t i = 0; i < allocation->message.n_container_responses; i++)
		answer_free(&allocation->answers[i]);
	free(allocation->message.container_responses);
	free(allocation->answers);
	*allocation = (struct allocation){0};
}
