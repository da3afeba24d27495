/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/pod.h"

#include "base/cleanup.h"
#include "conformance/kubelet/internal.h"

#include <string.h>

/* Admission: manager.go, Allocate and allocateContainerResources. */

struct admission {
	struct kubelet *kubelet;
	const struct kubelet_container *container;
	uint64_t timeout_ms;
	struct error *err;
};

void kubelet_outcome_free(struct kubelet_outcome *outcome)
{
	free(outcome->reason);
	free(outcome->message);
	*outcome = (struct kubelet_outcome){0};
}

static void report_allocate(const struct admission *admission, const char *resource,
			    const char *const *ids, size_t count, const struct kubelet_reply *reply)
{
	struct kubelet_event event = KUBELET_EVENT_EMPTY(ALLOCATE);
	struct text_list list CLEANUP_TEXT_LIST = {0};
	for (size_t i = 0; i < count; i++)
		(void)text_list_add(&list, ids[i], NULL);
	event.resource = resource;
	event.pod = admission->container->pod;
	event.container = admission->container->name;
	event.ids = &list;
	event.code = reply->code;
	event.text = reply->code == RPC_OK ? NULL : reply->message;
	event.duration_ms = (int64_t)reply->duration_ms;
	if (reply->reply != NULL)
		event.size = (int64_t)protobuf_c_message_get_packed_size(reply->reply);
	kubelet_report(admission->kubelet, event);
}

/* A kubelet up to 1.36 looks the devices up again after the call, without a guard (manager.go). */
static void warn_about_vanished(const struct admission *admission, const char *resource,
				const struct id_set *ids)
{
	const struct resource *listed = resource_find(admission->kubelet, resource);
	for (size_t i = 0; i < ids->count; i++) {
		struct error err = {0};
		if (listed != NULL && (id_set_has(&listed->healthy, ids->items[i]) ||
				       id_set_has(&listed->unhealthy, ids->items[i])))
			continue;
		(void)error_set(
			&err, ERROR_REMOTE,
			"device %s of %s vanished from the list while Allocate was under way; "
			"kubelet 1.36 crashes on that",
			ids->items[i], resource);
		kubelet_report_problem(admission->kubelet, &err);
	}
}

static int keep_answer(const struct admission *admission, const char *resource,
		       const struct id_set *ids, const struct kubelet_reply *reply)
{
	const V1beta1__AllocateResponse *response =
		(const V1beta1__AllocateResponse *)(const void *)reply->reply;
	if (reply->code != RPC_OK) {
		char *text CLEANUP_FREE = go_status_text(reply->code, reply->message);
		resources_recount(admission->kubelet);
		return kubelet_refuse(admission->kubelet, admission->err, "%s",
				      text == NULL ? "" : text);
	}
	if (response->n_container_responses == 0) {
		int rc = resource_leak(admission->kubelet, resource, ids, admission->err);
		return rc != 0 ? rc
			       : kubelet_refuse(admission->kubelet, admission->err,
						"no containers return in allocation response");
	}
	warn_about_vanished(admission, resource, ids);
	const struct kubelet_allocation seen = {
		.pod = admission->container->pod,
		.container = admission->container->name,
		.resource = resource,
		.ids = (const char *const *)ids->items,
		.id_count = ids->count,
		.response = response->container_responses[0],
		.response_size = protobuf_c_message_get_packed_size(&response->base),
		.duration_ms = reply->duration_ms,
	};
	return allocation_add(admission->kubelet, &seen, NULL, admission->err);
}

static int call_allocate(const struct admission *admission, const char *resource,
			 const struct id_set *ids)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(admission->kubelet, resource);
	if (plugin == NULL || plugin->channel == NULL)
		return kubelet_refuse(admission->kubelet, admission->err,
				      "endpoint %s has been stopped", resource);
	const char **order CLEANUP_FREE = id_set_shuffled(ids, &admission->kubelet->random);
	char **array CLEANUP_FREE = calloc(ids->count + 1, sizeof(*array));
	if (order == NULL || array == NULL)
		return error_memory(admission->err);
	memcpy(array, order, ids->count * sizeof(*array));
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&container};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	container.devices_ids = array;
	container.n_devices_ids = ids->count;
	request.container_requests = containers;
	request.n_container_requests = 1;
	const struct own_call call = {.plugin = plugin,
				      .method = "Allocate",
				      .request = &request.base,
				      .reply_type = &v1beta1__allocate_response__descriptor,
				      .patience_ms = admission->timeout_ms};
	struct kubelet_reply reply = {0};
	int rc = own_call(&call, &reply, admission->err);
	if (rc == 0) {
		report_allocate(admission, resource, order, ids->count, &reply);
		rc = keep_answer(admission, resource, ids, &reply);
	}
	kubelet_reply_free(&reply);
	return rc;
}

static int allocate_resource(const struct admission *admission, const struct kubelet_limit *limit)
{
	struct id_set ids CLEANUP_ID_SET = {0};
	const struct choice_request request = {.container = admission->container,
					       .resource = limit->resource,
					       .count = limit->count,
					       .ids = limit->ids,
					       .timeout_ms = admission->timeout_ms};
	int rc = choice_make(admission->kubelet, &request, &ids, admission->err);
	if (rc == ERROR_REMOTE &&
	    resource_leak(admission->kubelet, limit->resource, &ids, admission->err) != 0)
		return ERROR_MEMORY;
	if (rc != 0 || ids.count == 0)
		return rc;
	return call_allocate(admission, limit->resource, &ids);
}

/* The limits in the random order of a Go map. Caller frees. */
static const struct kubelet_limit **shuffle_limits(struct kubelet *kubelet,
						   const struct kubelet_container *container)
{
	const struct kubelet_limit **order =
		calloc(container->limit_count + 1, sizeof(const struct kubelet_limit *));
	if (order == NULL)
		return NULL;
	for (size_t i = 0; i < container->limit_count; i++) {
		size_t other = (size_t)random_below(&kubelet->random, i + 1);
		order[i] = order[other];
		order[other] = &container->limits[i];
	}
	return order;
}

static int allocate_all(const struct admission *admission)
{
	const struct kubelet_container *container = admission->container;
	const struct kubelet_limit **order CLEANUP_FREE =
		shuffle_limits(admission->kubelet, container);
	if (order == NULL)
		return error_memory(admission->err);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < container->limit_count; i++)
		rc = allocate_resource(admission, order[i]);
	return rc == 0 ? reusable_update(admission->kubelet, container, admission->err) : rc;
}

static int refuse(struct kubelet *kubelet, const char *pod, const char *container,
		  const char *reason, char *message, struct kubelet_outcome *out, struct error *err)
{
	*out = (struct kubelet_outcome){.reason = strdup(reason), .message = message};
	if (out->reason == NULL || message == NULL) {
		kubelet_outcome_free(out);
		return error_memory(err);
	}
	struct kubelet_event event = KUBELET_EVENT_EMPTY(REJECTED);
	event.pod = pod;
	event.container = container;
	event.text = message;
	kubelet_report(kubelet, event);
	return 0;
}

/* A plugin that is gone, and a plugin's refusal, are outcomes. */
static bool is_refusal(int rc)
{
	return rc == ERROR_REMOTE || rc == ERROR_UNAVAILABLE;
}

int kubelet_admit(struct kubelet *kubelet, const struct kubelet_container *container,
		  uint64_t timeout_ms, struct kubelet_outcome *out, struct error *err)
{
	struct error why = {0};
	const struct admission admission = {kubelet, container, timeout_ms, &why};
	*out = (struct kubelet_outcome){0};
	int rc = allocate_all(&admission);
	if (rc != 0)
		allocation_remove(kubelet, container->pod, container->name);
	checkpoint_write(kubelet);
	if (is_refusal(rc)) {
		/* lifecycle/predicate.go: every error of an admission handler that is none of its
		 * own. */
		char *message = text_format("Allocate failed due to %s, which is unexpected",
					    rc == ERROR_REMOTE ? kubelet->refusal : why.text);
		return refuse(kubelet, container->pod, container->name, "UnexpectedAdmissionError",
			      message, out, err);
	}
	if (rc != 0)
		return error_copy(err, &why);
	out->accepted = true;
	struct kubelet_event event = KUBELET_EVENT_EMPTY(ADMITTED);
	event.pod = container->pod;
	event.container = container->name;
	kubelet_report(kubelet, event);
	return 0;
}

/* GetDeviceRunContainerOptions: PreStartContainer where it is required, then the merge. */

struct start {
	struct kubelet *kubelet;
	const char *pod, *container;
	uint64_t timeout_ms;
	struct error *err;
};

static int call_pre_start(const struct start *start, const struct allocation *allocation,
			  struct kubelet_plugin *plugin)
{
	const char **order CLEANUP_FREE =
		id_set_shuffled(&allocation->ids, &start->kubelet->random);
	char **array CLEANUP_FREE = calloc(allocation->ids.count + 1, sizeof(*array));
	if (order == NULL || array == NULL)
		return error_memory(start->err);
	memcpy(array, order, allocation->ids.count * sizeof(*array));
	V1beta1__PreStartContainerRequest request = V1BETA1__PRE_START_CONTAINER_REQUEST__INIT;
	request.devices_ids = array;
	request.n_devices_ids = allocation->ids.count;
	const struct own_call call = {.plugin = plugin,
				      .method = "PreStartContainer",
				      .request = &request.base,
				      .reply_type =
					      &v1beta1__pre_start_container_response__descriptor,
				      .deadline_ms = start->kubelet->options.pre_start_timeout_ms,
				      .patience_ms = start->timeout_ms};
	struct kubelet_reply reply = {0};
	int rc = own_call(&call, &reply, start->err);
	if (rc != 0)
		return rc;
	struct kubelet_event event = KUBELET_EVENT_EMPTY(PRE_START);
	event.resource = allocation->resource;
	event.pod = start->pod;
	event.container = start->container;
	event.code = reply.code;
	event.text = reply.message;
	event.duration_ms = (int64_t)reply.duration_ms;
	kubelet_report(start->kubelet, event);
	if (reply.code != RPC_OK) {
		char *text CLEANUP_FREE = go_status_text(reply.code, reply.message);
		rc = kubelet_refuse(start->kubelet, start->err,
				    "device plugin PreStartContainer rpc failed with err: %s",
				    text == NULL ? "" : text);
	}
	kubelet_reply_free(&reply);
	return rc;
}

/* Skipped while the plugin's options are not known: after a kubelet restart, before it registered
 * again. */
static int pre_start(const struct start *start, const struct allocation *allocation)
{
	const struct resource *resource = resource_find(start->kubelet, allocation->resource);
	if (resource == NULL || resource->endpoint == NULL ||
	    !resource->endpoint->options.pre_start_required)
		return 0;
	if (resource->endpoint->channel == NULL)
		return kubelet_refuse(start->kubelet, start->err, "endpoint %s has been stopped",
				      allocation->resource);
	return call_pre_start(start, allocation, resource->endpoint);
}

/* The container's allocations in the random order of a Go map; *count tells how many. Caller frees.
 */
static struct allocation **collect(const struct start *start, size_t *count)
{
	size_t capacity = 1;
	for (const struct allocation *each = start->kubelet->allocations; each != NULL;
	     each = each->next)
		capacity++;
	struct allocation **list = calloc(capacity, sizeof(struct allocation *));
	*count = 0;
	for (struct allocation *each = start->kubelet->allocations; list != NULL && each != NULL;
	     each = each->next) {
		if (strcmp(each->pod, start->pod) != 0 ||
		    strcmp(each->container, start->container) != 0)
			continue;
		size_t other = (size_t)random_below(&start->kubelet->random, *count + 1);
		list[*count] = list[other];
		list[other] = each;
		++*count;
	}
	return list;
}

static int merge(const struct start *start, struct allocation *const *list, size_t count,
		 struct grant *grant)
{
	struct kubelet_answer *answers CLEANUP_FREE = calloc(count + 1, sizeof(*answers));
	if (answers == NULL)
		return error_memory(start->err);
	for (size_t i = 0; i < count; i++)
		answers[i] = (struct kubelet_answer){list[i]->resource, list[i]->response};
	return kubelet_merge(start->kubelet->options.os == KUBELET_OS_WINDOWS, answers, count,
			     grant, start->err);
}

int kubelet_start_container(struct kubelet *kubelet, const char *pod, const char *container,
			    uint64_t timeout_ms, struct kubelet_outcome *out, struct grant *grant,
			    struct error *err)
{
	struct error why = {0};
	const struct start start = {kubelet, pod, container, timeout_ms, &why};
	size_t count = 0;
	*out = (struct kubelet_outcome){0};
	*grant = (struct grant){0};
	struct allocation **list CLEANUP_FREE = collect(&start, &count);
	if (list == NULL)
		return error_memory(err);
	if (count == 0)
		return error_set(err, ERROR_NOT_FOUND, "pod %s has no container %s with devices",
				 pod, container);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = pre_start(&start, list[i]);
	if (rc == 0)
		rc = merge(&start, list, count, grant);
	if (is_refusal(rc))
		return refuse(kubelet, pod, container, "CreateContainerError",
			      strdup(rc == ERROR_REMOTE ? kubelet->refusal : why.text), out, err);
	if (rc != 0)
		return error_copy(err, &why);
	out->accepted = true;
	struct kubelet_event event = KUBELET_EVENT_EMPTY(CONTAINER_OPTIONS);
	event.pod = pod;
	event.container = container;
	event.grant = grant;
	kubelet_report(kubelet, event);
	return 0;
}
