/* SPDX-License-Identifier: MIT */
#include "reference-plugin/answer/allocate.h"

#include "base/cleanup.h"
#include "reference-plugin/inventory/replica_id.h"
#include "reference-plugin/inventory/replica_set.h"

static int check_health(const struct inventory_device *device, const char *id, struct error *err)
{
	char quoted[REPLICA_ID_QUOTED_SIZE];

	if (device->healthy)
		return 0;
	return error_set(err, ERROR_UNAVAILABLE, "device id %s is unhealthy: %s",
			 replica_id_quote(id, quoted), device->reason);
}

/* The devices behind the ids, each once, ascending. */
static int chosen_devices(const struct inventory *inventory, enum inventory_resource resource,
			  const V1beta1__ContainerAllocateRequest *request, size_t **devices,
			  size_t *count, struct error *err)
{
	char quoted[REPLICA_ID_QUOTED_SIZE];
	struct replica_set chosen CLEANUP(replica_set_free) = {0};
	int rc = replica_set_init(&chosen, inventory, err);

	for (size_t i = 0; rc == 0 && i < request->n_devices_ids; i++) {
		const char *id = request->devices_ids[i];
		size_t device = 0;
		uint32_t replica = 0;

		rc = inventory_locate(inventory, resource, id, &device, &replica, err);
		if (rc == 0)
			rc = check_health(&inventory->devices[device], id, err);
		if (rc == 0 && !replica_set_add(&chosen, device, replica))
			rc = error_set(err, ERROR_ARGUMENT, "device id %s is asked for twice",
				       replica_id_quote(id, quoted));
	}
	if (rc < 0)
		return rc;
	*devices = calloc(inventory->device_count + 1, sizeof(**devices));
	if (*devices == NULL)
		return error_memory(err);
	for (size_t i = 0; i < inventory->device_count; i++) {
		if (replica_set_count(&chosen, i) > 0)
			(*devices)[(*count)++] = i;
	}
	return 0;
}

static int answer_devices(const struct inventory *inventory, const struct answer_rules *rules,
			  const size_t *chosen, size_t count, struct answer *out, struct error *err)
{
	const struct answer_host host = {.windows = inventory->windows,
					 .recorded = inventory->recorded,
					 .root = inventory->root};
	const struct discovery_device **devices CLEANUP_FREE =
		calloc(count + 1, sizeof(struct discovery_device *));

	if (devices == NULL)
		return error_memory(err);
	for (size_t i = 0; i < count; i++)
		devices[i] = inventory->devices[chosen[i]].found;
	return answer_build(&host, rules, devices, count, out, err);
}

static int answer_container(const struct inventory *inventory, enum inventory_resource resource,
			    const struct answer_rules *rules,
			    const V1beta1__ContainerAllocateRequest *request, struct answer *out,
			    struct error *err)
{
	size_t *devices CLEANUP_FREE = NULL;
	size_t count = 0;
	int rc = 0;

	if (request->n_devices_ids == 0)
		return error_set(err, ERROR_ARGUMENT, "a container asks for no device id");
	rc = chosen_devices(inventory, resource, request, &devices, &count, err);
	if (rc < 0)
		return rc;
	return answer_devices(inventory, rules, devices, count, out, err);
}

int allocate(const struct inventory *inventory, enum inventory_resource resource,
	     const struct answer_rules *rules, const V1beta1__AllocateRequest *request,
	     struct allocation *out, struct error *err)
{
	size_t count = request->n_container_requests;

	v1beta1__allocate_response__init(&out->message);
	if (count > ALLOCATE_CONTAINERS_MAX)
		return error_set(err, ERROR_ARGUMENT, "%zu containers in one call are more than %d",
				 count, (int)ALLOCATE_CONTAINERS_MAX);
	out->answers = calloc(count + 1, sizeof(*out->answers));
	out->message.container_responses =
		calloc(count + 1, sizeof(V1beta1__ContainerAllocateResponse *));
	if (out->answers == NULL || out->message.container_responses == NULL)
		return error_memory(err);
	for (size_t i = 0; i < count; i++) {
		struct answer *answer = &out->answers[i];
		int rc = 0;

		out->message.container_responses[i] = &answer->message;
		out->message.n_container_responses = i + 1;
		rc = answer_container(inventory, resource, rules, request->container_requests[i],
				      answer, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void allocation_free(struct allocation *allocation)
{
	for (size_t i = 0; i < allocation->message.n_container_responses; i++)
		answer_free(&allocation->answers[i]);
	free(allocation->message.container_responses);
	free(allocation->answers);
	*allocation = (struct allocation){0};
}
