/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/pod.h"

#include "base/cleanup.h"
#include "conformance/kubelet/endpoints.h"
#include "conformance/kubelet/pods.h"
#include "conformance/kubelet/resources.h"
#include "rpc/message.h"

#include <string.h>

/* One container on its way through the kubelet. */
struct work {
	struct kubelet *kubelet;
	const char *pod, *container;
	uint64_t timeout_ms;
	struct error *err;
};

void kubelet_outcome_free(struct kubelet_outcome *outcome)
{
	free(outcome->message);
	*outcome = (struct kubelet_outcome){0};
}

static struct kubelet_event event_of(const struct work *work, enum kubelet_event_type type)
{
	struct kubelet_event event = kubelet_event_of(type);
	event.pod = work->pod;
	event.container = work->container;
	return event;
}

static int refuse_stopped(const struct work *work, const char *resource)
{
	return kubelet_refuse(work->kubelet, work->err, "endpoint %s has been stopped", resource);
}

/* Admission: manager.go, Allocate and allocateContainerResources. */

static void report_allocate(const struct work *work, const char *resource, const char *const *ids,
			    size_t count, const struct rpc_answer *reply)
{
	struct kubelet_event event = event_of(work, KUBELET_EVENT_ALLOCATE);
	const struct text_list list = {.items = message_strings(ids), .count = count};
	event.resource = resource;
	event.ids = &list;
	event.code = reply->code;
	event.text = reply->code == RPC_OK ? NULL : reply->message;
	event.duration_ms = (int64_t)reply->duration_ms;
	if (reply->reply != NULL)
		event.size = (int64_t)protobuf_c_message_get_packed_size(reply->reply);
	kubelet_report(work->kubelet, event);
}

/* A kubelet up to 1.36 looks the devices up again after the call, without a guard (manager.go). */
static void warn_about_vanished(const struct work *work, const char *resource,
				const struct id_set *ids)
{
	const struct resource *listed = resource_find(work->kubelet, resource);
	for (size_t i = 0; i < ids->list.count; i++) {
		const char *id = ids->list.items[i];
		struct error err = {0};
		if (listed != NULL &&
		    (id_set_has(&listed->healthy, id) || id_set_has(&listed->unhealthy, id)))
			continue;
		(void)error_set(
			&err, ERROR_REMOTE,
			"device %s of %s vanished from the list while Allocate was under way; kubelet 1.36 crashes on that",
			id, resource);
		kubelet_report_problem(work->kubelet, &err);
	}
}

static int keep_answer(const struct work *work, const char *resource, const struct id_set *ids,
		       const struct rpc_answer *reply)
{
	V1beta1__AllocateResponse *response = (V1beta1__AllocateResponse *)(void *)reply->reply;
	if (reply->code != RPC_OK) {
		resources_recount(work->kubelet);
		return kubelet_refuse_status(work->kubelet, work->err, "", reply);
	}
	if (response->n_container_responses == 0) {
		int rc = resource_leak(work->kubelet, resource, ids, work->err);
		return rc != 0 ? rc
			       : kubelet_refuse(work->kubelet, work->err,
						"no containers return in allocation response");
	}
	warn_about_vanished(work, resource, ids);
	return allocation_add(work->kubelet, work->pod, work->container, resource, ids,
			      STEAL(response->container_responses[0]), work->err);
}

static int call_allocate(const struct work *work, const char *resource, const struct id_set *ids)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(work->kubelet, resource);
	struct kubelet_allocate_request request = {0};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (plugin == NULL || plugin->channel == NULL)
		return refuse_stopped(work, resource);
	const char **order CLEANUP_FREE = id_set_shuffled(ids, &work->kubelet->random);
	if (order == NULL)
		return error_memory(work->err);
	kubelet_allocate_request_add(&request, order, ids->list.count);
	int rc = own_call(plugin, DEVICE_PLUGIN_SERVICE "Allocate", &request.request.base,
			  &v1beta1__allocate_response__descriptor, 0, work->timeout_ms, &reply,
			  work->err);
	if (rc != 0)
		return rc;
	report_allocate(work, resource, order, ids->list.count, &reply);
	return keep_answer(work, resource, ids, &reply);
}

static int allocate_resource(const struct work *work, const struct kubelet_container *container,
			     const struct kubelet_limit *limit)
{
	struct id_set ids CLEANUP_ID_SET = {0};
	int rc = choice_make(work->kubelet, container, limit, work->timeout_ms, &ids, work->err);
	if (rc == ERROR_REMOTE &&
	    resource_leak(work->kubelet, limit->resource, &ids, work->err) != 0)
		return ERROR_MEMORY;
	if (rc != 0 || ids.list.count == 0)
		return rc;
	return call_allocate(work, limit->resource, &ids);
}

/* The limits come in the random order of a Go map. */
static int allocate_all(const struct work *work, const struct kubelet_container *container)
{
	size_t count = container->limit_count;
	const struct kubelet_limit **order CLEANUP_FREE =
		calloc(count + 1, sizeof(const struct kubelet_limit *));
	int rc = 0;
	if (order == NULL)
		return error_memory(work->err);
	for (size_t i = 0; i < count; i++)
		order[i] = &container->limits[i];
	random_shuffle(&work->kubelet->random, order, count);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = allocate_resource(work, container, order[i]);
	return rc == 0 ? reusable_update(work->kubelet, container, work->err) : rc;
}

/* A plugin that is gone, and a refusal, are outcomes; every other error is one of ours. */
static int end_badly(const struct work *work, int rc, const char *reason, const char *before,
		     const char *behind, struct kubelet_outcome *out, struct error *err)
{
	if (rc != ERROR_REMOTE && rc != ERROR_UNAVAILABLE)
		return error_copy(err, work->err);
	*out = (struct kubelet_outcome){
		.reason = reason,
		.message = text_format(
			"%s%s%s", before,
			rc == ERROR_REMOTE ? work->kubelet->refusal : work->err->text, behind)};
	if (out->message == NULL)
		return error_memory(err);
	struct kubelet_event event = event_of(work, KUBELET_EVENT_REJECTED);
	event.text = out->message;
	kubelet_report(work->kubelet, event);
	return 0;
}

int kubelet_admit(struct kubelet *kubelet, const struct kubelet_container *container,
		  uint64_t timeout_ms, struct kubelet_outcome *out, struct error *err)
{
	struct error why = {0};
	const struct work work = {kubelet, container->pod, container->name, timeout_ms, &why};
	*out = (struct kubelet_outcome){0};
	reusable_keep(kubelet, container->pod);
	int rc = allocate_all(&work, container);
	if (rc != 0)
		allocation_remove(kubelet, container->pod, container->name);
	checkpoint_write(kubelet);
	/* lifecycle/predicate.go: every error of an admission handler that is none of its own. */
	if (rc != 0)
		return end_badly(&work, rc, "UnexpectedAdmissionError", "Allocate failed due to ",
				 ", which is unexpected", out, err);
	out->accepted = true;
	kubelet_report(kubelet, event_of(&work, KUBELET_EVENT_ADMITTED));
	return 0;
}

/* GetDeviceRunContainerOptions: PreStartContainer where it is required, then the merge. */

static int call_pre_start(const struct work *work, const struct allocation *allocation,
			  struct kubelet_plugin *plugin)
{
	const char **order CLEANUP_FREE = id_set_shuffled(&allocation->ids, &work->kubelet->random);
	V1beta1__PreStartContainerRequest request = V1BETA1__PRE_START_CONTAINER_REQUEST__INIT;
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (order == NULL)
		return error_memory(work->err);
	request.devices_ids = message_strings(order);
	request.n_devices_ids = allocation->ids.list.count;
	int rc = own_call(plugin, DEVICE_PLUGIN_SERVICE "PreStartContainer", &request.base,
			  &v1beta1__pre_start_container_response__descriptor,
			  work->kubelet->options.pre_start_timeout_ms, work->timeout_ms, &reply,
			  work->err);
	if (rc != 0)
		return rc;
	struct kubelet_event event = event_of(work, KUBELET_EVENT_PRE_START);
	event.resource = allocation->resource;
	event.code = reply.code;
	event.text = reply.message;
	event.duration_ms = (int64_t)reply.duration_ms;
	kubelet_report(work->kubelet, event);
	if (reply.code == RPC_OK)
		return 0;
	return kubelet_refuse_status(
		work->kubelet, work->err,
		"device plugin PreStartContainer rpc failed with err: ", &reply);
}

/* Skipped while the plugin's options are not known: after a kubelet restart, before it registered
 * again. */
static int pre_start(const struct work *work, const struct allocation *allocation)
{
	const struct resource *resource = resource_find(work->kubelet, allocation->resource);
	if (resource == NULL || resource->endpoint == NULL ||
	    !resource->endpoint->options.pre_start_required)
		return 0;
	if (resource->endpoint->channel == NULL)
		return refuse_stopped(work, allocation->resource);
	return call_pre_start(work, allocation, resource->endpoint);
}

/* The container's allocations in the random order of a Go map; *count tells how many. Caller frees.
 * NULL: out of memory. */
static struct allocation **collect(const struct work *work, size_t *count)
{
	size_t capacity = 1;
	for (const struct allocation *each = work->kubelet->allocations; each != NULL;
	     each = each->next)
		capacity++;
	struct allocation **list = calloc(capacity, sizeof(struct allocation *));
	*count = 0;
	for (struct allocation *each = work->kubelet->allocations; list != NULL && each != NULL;
	     each = each->next)
		if (strcmp(each->pod, work->pod) == 0 &&
		    strcmp(each->container, work->container) == 0)
			list[(*count)++] = each;
	if (list != NULL)
		random_shuffle(&work->kubelet->random, list, *count);
	return list;
}

static int merge(const struct work *work, struct allocation *const *list, size_t count,
		 struct grant *grant)
{
	struct kubelet_answer *answers CLEANUP_FREE = calloc(count + 1, sizeof(*answers));
	if (answers == NULL)
		return error_memory(work->err);
	for (size_t i = 0; i < count; i++)
		answers[i] = (struct kubelet_answer){list[i]->resource, list[i]->response};
	return kubelet_merge(work->kubelet->options.os == KUBELET_OS_WINDOWS, answers, count, grant,
			     work->err);
}

int kubelet_start_container(struct kubelet *kubelet, const char *pod, const char *container,
			    uint64_t timeout_ms, struct kubelet_outcome *out, struct grant *grant,
			    struct error *err)
{
	struct error why = {0};
	const struct work work = {kubelet, pod, container, timeout_ms, &why};
	size_t count = 0;
	*out = (struct kubelet_outcome){0};
	*grant = (struct grant){0};
	struct allocation **list CLEANUP_FREE = collect(&work, &count);
	if (list == NULL)
		return error_memory(err);
	if (count == 0)
		return error_set(err, ERROR_NOT_FOUND, "pod %s has no container %s with devices",
				 pod, container);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = pre_start(&work, list[i]);
	if (rc == 0)
		rc = merge(&work, list, count, grant);
	if (rc != 0)
		return end_badly(&work, rc, "CreateContainerError", "", "", out, err);
	out->accepted = true;
	struct kubelet_event event = event_of(&work, KUBELET_EVENT_CONTAINER_OPTIONS);
	event.grant = grant;
	kubelet_report(kubelet, event);
	return 0;
}
