/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "conformance/kubelet/internal.h"

#include <string.h>

/*
 * Which devices a container gets: manager.go, devicesToAllocate and filterByAffinity. Refusals
 * carry the kubelet's texts.
 */

struct choice {
	struct kubelet *kubelet;
	const struct choice_request *request;
	const struct resource *resource;
	struct id_set *chosen;
	size_t needed;
	struct id_set available, aligned, unaligned, no_affinity;
	struct error *err;
};

/* Takes from `from`, in random order, until enough is chosen. */
static int take_from(struct choice *choice, const struct id_set *from)
{
	const char **order CLEANUP_FREE = id_set_shuffled(from, &choice->kubelet->random);
	if (order == NULL && from->count > 0)
		return error_memory(choice->err);
	for (size_t i = 0; i < from->count && choice->needed > 0; i++) {
		if (id_set_has(choice->chosen, order[i]))
			continue;
		int rc = id_set_add(choice->chosen, order[i], choice->err);
		if (rc != 0)
			return rc;
		choice->needed--;
	}
	return 0;
}

/* Where a device stands to the topology hint; a device without nodes has no affinity. */
static struct id_set *affinity_of(struct choice *choice, const char *id)
{
	uint64_t mask = choice->request->container->numa_mask;
	const struct kubelet_device *device =
		mask == 0 ? NULL : kubelet_device_find(&choice->resource->devices, id);
	if (device == NULL || device->numa_count == 0)
		return &choice->no_affinity;
	for (size_t i = 0; i < device->numa_count; i++)
		if (device->numa[i] >= 0 && device->numa[i] < 64 &&
		    (mask >> device->numa[i] & 1) != 0)
			return &choice->aligned;
	return &choice->unaligned;
}

static int split_by_affinity(struct choice *choice)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < choice->available.count; i++) {
		const char *id = choice->available.items[i];
		rc = id_set_add(affinity_of(choice, id), id, choice->err);
	}
	return rc;
}

static void report_preferred(const struct choice *choice, const struct kubelet_reply *reply,
			     const V1beta1__ContainerPreferredAllocationResponse *answer)
{
	struct kubelet_event event = KUBELET_EVENT_EMPTY(PREFERRED);
	struct text_list ids = {0};
	if (answer != NULL) {
		ids.items = answer->deviceids;
		ids.count = answer->n_deviceids;
		event.ids = &ids;
	}
	event.resource = choice->request->resource;
	event.pod = choice->request->container->pod;
	event.container = choice->request->container->name;
	event.code = reply->code;
	event.text = reply->code == RPC_OK ? NULL : reply->message;
	event.duration_ms = (int64_t)reply->duration_ms;
	kubelet_report(choice->kubelet, event);
}

static int call_preferred(struct choice *choice, const char *const *offered, size_t offered_count,
			  const char *const *must, size_t must_count, struct kubelet_reply *reply)
{
	V1beta1__ContainerPreferredAllocationRequest container =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__ContainerPreferredAllocationRequest *containers[] = {&container};
	V1beta1__PreferredAllocationRequest request = V1BETA1__PREFERRED_ALLOCATION_REQUEST__INIT;
	char **available CLEANUP_FREE = calloc(offered_count + 1, sizeof(*available));
	char **included CLEANUP_FREE = calloc(must_count + 1, sizeof(*included));
	if (available == NULL || included == NULL)
		return error_memory(choice->err);
	if (offered_count > 0)
		memcpy(available, offered, offered_count * sizeof(*available));
	if (must_count > 0)
		memcpy(included, must, must_count * sizeof(*included));
	container.available_deviceids = available;
	container.n_available_deviceids = offered_count;
	container.must_include_deviceids = included;
	container.n_must_include_deviceids = must_count;
	container.allocation_size = (int32_t)choice->request->count;
	request.container_requests = containers;
	request.n_container_requests = 1;
	const struct own_call call = {.plugin = choice->resource->endpoint,
				      .method = "GetPreferredAllocation",
				      .request = &request.base,
				      .reply_type =
					      &v1beta1__preferred_allocation_response__descriptor,
				      .patience_ms = choice->request->timeout_ms};
	return own_call(&call, reply, choice->err);
}

/* Adds the plugin's preference to `preferred`: the first container response, whatever it holds. */
static int read_preferred(struct choice *choice, const struct kubelet_reply *reply,
			  struct id_set *preferred)
{
	const V1beta1__PreferredAllocationResponse *response =
		(const V1beta1__PreferredAllocationResponse *)(const void *)reply->reply;
	const V1beta1__ContainerPreferredAllocationResponse *answer =
		response != NULL && response->n_container_responses > 0
			? response->container_responses[0]
			: NULL;
	report_preferred(choice, reply, answer);
	if (reply->code != RPC_OK) {
		char *text CLEANUP_FREE = go_status_text(reply->code, reply->message);
		return kubelet_refuse(
			choice->kubelet, choice->err,
			"device plugin GetPreferredAllocation rpc failed with err: %s",
			text == NULL ? "" : text);
	}
	return answer == NULL
		       ? 0
		       : id_set_add_strings(preferred, (const char *const *)answer->deviceids,
					    answer->n_deviceids, choice->err);
}

/* Asks the plugin which of `offered` and the already chosen it would take; nothing without its
 * option. */
static int prefer(struct choice *choice, const struct id_set *offered, struct id_set *preferred)
{
	struct kubelet_plugin *plugin = choice->resource->endpoint;
	if (plugin == NULL || !plugin->options.get_preferred_allocation_available)
		return 0;
	struct id_set all CLEANUP_ID_SET = {0};
	int rc = id_set_add_all(&all, offered, choice->err);
	if (rc == 0)
		rc = id_set_add_all(&all, choice->chosen, choice->err);
	if (rc != 0)
		return rc;
	const char **available CLEANUP_FREE = id_set_shuffled(&all, &choice->kubelet->random);
	const char **must CLEANUP_FREE = id_set_shuffled(choice->chosen, &choice->kubelet->random);
	if ((available == NULL && all.count > 0) || (must == NULL && choice->chosen->count > 0))
		return error_memory(choice->err);
	struct kubelet_reply reply = {0};
	rc = call_preferred(choice, available, all.count, must, choice->chosen->count, &reply);
	if (rc == 0)
		rc = read_preferred(choice, &reply, preferred);
	kubelet_reply_free(&reply);
	return rc;
}

/* Takes what the plugin prefers of `offered`, as far as it exists there. */
static int take_preferred(struct choice *choice, const struct id_set *offered)
{
	struct id_set preferred CLEANUP_ID_SET = {0};
	struct id_set usable CLEANUP_ID_SET = {0};
	int rc = prefer(choice, offered, &preferred);
	if (rc == 0)
		rc = id_set_add_common(&usable, &preferred, offered, choice->err);
	return rc == 0 ? take_from(choice, &usable) : rc;
}

static int take_available(struct choice *choice)
{
	int rc = 0;
	if (choice->needed < choice->aligned.count) {
		rc = take_preferred(choice, &choice->aligned);
		return rc == 0 ? take_from(choice, &choice->aligned) : rc;
	}
	rc = take_from(choice, &choice->aligned);
	if (rc == 0 && choice->needed > 0)
		rc = take_preferred(choice, &choice->available);
	if (rc == 0)
		rc = take_from(choice, &choice->unaligned);
	return rc == 0 ? take_from(choice, &choice->no_affinity) : rc;
}

static int find_available(struct choice *choice)
{
	struct id_set in_use CLEANUP_ID_SET = {0};
	int rc =
		allocation_in_use(choice->kubelet, choice->request->resource, &in_use, choice->err);
	if (rc == 0)
		rc = id_set_add_all(&choice->available, &choice->resource->healthy, choice->err);
	if (rc != 0)
		return rc;
	id_set_remove_all(&choice->available, &in_use);
	if (choice->available.count < choice->needed)
		return kubelet_refuse(
			choice->kubelet, choice->err,
			"requested number of devices unavailable for %s. Requested: %zu, "
			"Available: %zu",
			choice->request->resource, choice->needed, choice->available.count);
	return split_by_affinity(choice);
}

/* The devices that the request names: each must be one that could be chosen. */
static int take_given(struct choice *choice)
{
	const struct choice_request *request = choice->request;
	int rc = find_available(choice);
	for (size_t i = 0; rc == 0 && i < request->count; i++)
		if (!id_set_has(&choice->available, request->ids[i]))
			rc = kubelet_refuse(choice->kubelet, choice->err,
					    "device %s of %s is unhealthy, in use or not listed",
					    request->ids[i], request->resource);
	return rc == 0 ? id_set_add_strings(choice->chosen, request->ids, request->count,
					    choice->err)
		       : rc;
}

static int check_held(struct choice *choice, const struct allocation *held)
{
	const struct choice_request *request = choice->request;
	if (held != NULL && held->ids.count != request->count)
		return kubelet_refuse(
			choice->kubelet, choice->err,
			"pod \"%s\" container \"%s\" changed request for resource \"%s\" from "
			"%zu to %zu",
			request->container->pod, request->container->name, request->resource,
			held->ids.count, request->count);
	if (choice->resource == NULL)
		return kubelet_refuse(choice->kubelet, choice->err,
				      "cannot allocate unregistered device %s", request->resource);
	if (choice->resource->healthy.count == 0)
		return kubelet_refuse(
			choice->kubelet, choice->err,
			"no healthy devices present; cannot allocate unhealthy devices %s",
			request->resource);
	if (held != NULL && !id_set_contains(&choice->resource->healthy, &held->ids))
		return kubelet_refuse(
			choice->kubelet, choice->err,
			"previously allocated devices are no longer healthy; cannot allocate "
			"unhealthy devices %s",
			request->resource);
	return 0;
}

static int choose(struct choice *choice)
{
	const struct choice_request *request = choice->request;
	const struct allocation *held =
		allocation_find(choice->kubelet, request->container->pod, request->container->name,
				request->resource);
	int rc = check_held(choice, held);
	if (rc != 0 || held != NULL || request->count == 0)
		return rc;
	const struct reusable *reusable =
		reusable_find(choice->kubelet, request->container->pod, request->resource);
	choice->needed = request->count;
	if (request->ids != NULL)
		return take_given(choice);
	if (reusable != NULL)
		rc = take_from(choice, &reusable->ids);
	if (rc == 0 && choice->needed > 0)
		rc = find_available(choice);
	if (rc == 0 && choice->needed > 0)
		rc = take_available(choice);
	return rc;
}

int choice_make(struct kubelet *kubelet, const struct choice_request *request, struct id_set *ids,
		struct error *err)
{
	struct choice choice = {.kubelet = kubelet,
				.request = request,
				.resource = resource_find(kubelet, request->resource),
				.chosen = ids,
				.err = err};
	int rc = choose(&choice);
	id_set_clear(&choice.available);
	id_set_clear(&choice.aligned);
	id_set_clear(&choice.unaligned);
	id_set_clear(&choice.no_affinity);
	return rc;
}
