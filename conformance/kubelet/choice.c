/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "conformance/kubelet/endpoints.h"
#include "conformance/kubelet/pods.h"
#include "conformance/kubelet/resources.h"
#include "rpc/message.h"

#include <string.h>

/*
 * Which devices a container gets: manager.go, devicesToAllocate and filterByAffinity. Refusals
 * carry the kubelet's texts.
 */

/* A device's place relative to the topology hint. */
enum affinity { HINTED_NODES, OTHER_NODES, WITHOUT_NODES, AFFINITIES };

struct choice {
	struct kubelet *kubelet;
	const struct kubelet_container *container;
	const struct kubelet_limit *limit;
	const struct resource *resource;
	uint64_t timeout_ms;
	struct id_set *chosen;
	size_t needed;
	struct id_set available, by_affinity[AFFINITIES];
	struct error *err;
};

/* Chooses from `from`, in random order, until there are enough. */
static void take_from(struct choice *choice, const struct id_set *from)
{
	const char **order CLEANUP_FREE = id_set_shuffled(from, &choice->kubelet->random);
	size_t taken = 0;
	for (size_t i = 0; i < from->list.count && choice->needed > 0; i++) {
		if (id_set_has(choice->chosen, order[i]))
			continue;
		order[taken++] = order[i];
		choice->needed--;
	}
	id_set_add_strings(choice->chosen, order, taken);
}

/* A device without nodes has no affinity; -1 is the kubelet's name for that (nodeWithoutTopology). */
static enum affinity affinity_of(const struct choice *choice, const char *id)
{
	uint64_t mask = choice->container->numa_mask;
	const struct kubelet_device *device =
		mask == 0 ? NULL : kubelet_device_find(&choice->resource->devices, id);
	enum affinity affinity = WITHOUT_NODES;
	if (device == NULL)
		return affinity;
	items_each (node, device->numa, device->numa_count) {
		if (*node >= 0 && *node < 64 && (mask >> *node & 1) != 0)
			return HINTED_NODES;
		if (*node != -1)
			affinity = OTHER_NODES;
	}
	return affinity;
}

/* Chooses the devices of `offered` that the plugin prefers; none without the plugin's option. The
 * plugin is also sent the devices that are chosen already. */
static int take_preferred(struct choice *choice, const struct id_set *offered)
{
	const struct kubelet_plugin *plugin = choice->resource->endpoint;
	const V1beta1__ContainerPreferredAllocationResponse *answer = NULL;
	struct id_set all CLEANUP_ID_SET = {0};
	struct id_set preferred CLEANUP_ID_SET = {0};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (plugin == NULL || !plugin->options.get_preferred_allocation_available)
		return 0;

	id_set_add(&all, offered);
	id_set_add(&all, choice->chosen);
	struct random *random = &choice->kubelet->random;
	const char **available CLEANUP_FREE = id_set_shuffled(&all, random);
	const char **must CLEANUP_FREE = id_set_shuffled(choice->chosen, random);
	struct kubelet_preferred_request request;

	kubelet_preferred_request_init(&request, available, all.list.count,
				       (int32_t)choice->limit->count);
	request.container.must_include_deviceids = message_strings(must);
	request.container.n_must_include_deviceids = choice->chosen->list.count;
	int rc = own_call(choice->resource->endpoint, &kubelet_method_prefer, &request.request.base,
			  0, choice->timeout_ms, &reply, choice->err);
	if (rc < 0)
		return rc;

	/* Only the first container response counts. */
	const V1beta1__PreferredAllocationResponse *response =
		(const V1beta1__PreferredAllocationResponse *)(const void *)reply.reply;
	struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_PREFERRED);
	struct text_list ids = {0};
	if (response != NULL && response->n_container_responses > 0) {
		answer = response->container_responses[0];
		ids.items = answer->deviceids;
		ids.count = answer->n_deviceids;
		event.ids = &ids;
	}
	event.resource = choice->limit->resource;
	event.pod = choice->container->pod;
	event.container = choice->container->name;
	event.code = reply.code;
	event.text = reply.code == RPC_OK ? NULL : reply.message;
	event.duration_ms = (int64_t)reply.duration_ms;
	kubelet_report(choice->kubelet, event);

	if (reply.code != RPC_OK)
		return kubelet_refuse_status(
			choice->kubelet, choice->err,
			"device plugin GetPreferredAllocation rpc failed with err: ", &reply);
	id_set_add_strings(&preferred, (const char *const *)ids.items, ids.count);
	id_set_keep(&preferred, offered);
	take_from(choice, &preferred);
	return 0;
}

static int take_available(struct choice *choice)
{
	const struct id_set *aligned = &choice->by_affinity[HINTED_NODES];
	int rc = 0;
	if (choice->needed < aligned->list.count) {
		rc = take_preferred(choice, aligned);
		if (rc == 0)
			take_from(choice, aligned);
		return rc;
	}
	take_from(choice, aligned);
	if (choice->needed > 0)
		rc = take_preferred(choice, &choice->available);
	if (rc < 0)
		return rc;
	take_from(choice, &choice->by_affinity[OTHER_NODES]);
	take_from(choice, &choice->by_affinity[WITHOUT_NODES]);
	return 0;
}

/* Healthy devices that no container holds, also by their affinity. */
static int find_available(struct choice *choice)
{
	struct id_set in_use CLEANUP_ID_SET = {0};
	struct id_set *available = &choice->available;
	const struct kubelet_options *options = &choice->kubelet->options;
	allocation_in_use(choice->kubelet, choice->limit->resource, &in_use);
	id_set_add(available, &choice->resource->healthy);
	text_each (id, &available->list) {
		if (options->is_held != NULL &&
		    options->is_held(choice->limit->resource, id, options->user))
			id_set_add_strings(&in_use, (const char *const[]){id}, 1);
	}
	id_set_remove(available, &in_use);
	if (available->list.count < choice->needed)
		return kubelet_refuse(
			choice->kubelet, choice->err,
			"requested number of devices unavailable for %s. Requested: %zu, Available: %zu",
			choice->limit->resource, choice->needed, available->list.count);

	const char **ids CLEANUP_FREE = memory_allocate(available->list.count + 1, sizeof(*ids));
	for (enum affinity affinity = HINTED_NODES; affinity < AFFINITIES; affinity++) {
		size_t count = 0;
		text_each (id, &available->list) {
			if (affinity_of(choice, id) == affinity)
				ids[count++] = id;
		}
		id_set_add_strings(&choice->by_affinity[affinity], ids, count);
	}
	return 0;
}

static int choose(struct choice *choice)
{
	const struct kubelet_limit *limit = choice->limit;
	const char *pod = choice->container->pod;
	/* What the container holds already. */
	const struct allocation *held =
		allocation_find(choice->kubelet, pod, choice->container->name, limit->resource);
	if (held != NULL && held->ids.list.count != limit->count)
		return kubelet_refuse(
			choice->kubelet, choice->err,
			"pod \"%s\" container \"%s\" changed request for resource \"%s\" from %zu to %zu",
			pod, choice->container->name, limit->resource, held->ids.list.count,
			limit->count);
	if (choice->resource == NULL)
		return kubelet_refuse(choice->kubelet, choice->err,
				      "cannot allocate unregistered device %s", limit->resource);
	if (choice->resource->healthy.list.count == 0)
		return kubelet_refuse(
			choice->kubelet, choice->err,
			"no healthy devices present; cannot allocate unhealthy devices %s",
			limit->resource);
	if (held != NULL && !id_set_contains(&choice->resource->healthy, &held->ids))
		return kubelet_refuse(
			choice->kubelet, choice->err,
			"previously allocated devices are no longer healthy; cannot allocate unhealthy devices %s",
			limit->resource);
	if (held != NULL || limit->count == 0)
		return 0;
	choice->needed = limit->count;

	/* Devices that the limit names must be available. */
	if (limit->ids != NULL) {
		int rc = find_available(choice);
		for (size_t i = 0; rc == 0 && i < limit->count; i++) {
			if (!id_set_has(&choice->available, limit->ids[i]))
				rc = kubelet_refuse(
					choice->kubelet, choice->err,
					"device %s of %s is unhealthy, in use or not listed",
					limit->ids[i], limit->resource);
		}
		if (rc == 0)
			id_set_add_strings(choice->chosen, limit->ids, limit->count);
		return rc;
	}

	const struct id_set *reusable = reusable_ids(choice->kubelet, pod, limit->resource);
	if (reusable != NULL)
		take_from(choice, reusable);
	if (choice->needed == 0)
		return 0;
	int rc = find_available(choice);
	return rc == 0 ? take_available(choice) : rc;
}

int choice_make(struct kubelet *kubelet, const struct kubelet_container *container,
		const struct kubelet_limit *limit, uint64_t timeout_ms, struct id_set *ids,
		struct error *err)
{
	struct choice choice = {.kubelet = kubelet,
				.container = container,
				.limit = limit,
				.resource = resource_find(kubelet, limit->resource),
				.timeout_ms = timeout_ms,
				.chosen = ids,
				.err = err};
	int rc = choose(&choice);
	id_set_clear(&choice.available);
	items_each (set, choice.by_affinity, AFFINITIES)
		id_set_clear(set);
	return rc;
}
