/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/pod.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/kubelet/endpoints.h"
#include "conformance/kubelet/pods.h"
#include "conformance/kubelet/resources.h"
#include "containers/grant/merge.h"
#include "rpc/message.h"

#include <string.h>
#include <uv.h>

enum {
	NODE_FOLDERS = 4,
	FILE_TYPE = 0170000,
	FILE_CHARACTER = 0020000,
	FILE_BLOCK = 0060000,
	FILE_FOLDER = 0040000
};

/* The admission or start of one container. */
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

static int keep_answer(const struct work *work, const char *resource, const struct id_set *ids,
		       const struct rpc_answer *reply)
{
	V1beta1__AllocateResponse *response = (V1beta1__AllocateResponse *)(void *)reply->reply;
	if (reply->code != RPC_OK) {
		resources_recount(work->kubelet);
		return kubelet_refuse_status(work->kubelet, work->err, "", reply);
	}
	if (response->n_container_responses == 0) {
		resource_leak(work->kubelet, resource, ids);
		return kubelet_refuse(work->kubelet, work->err,
				      "no containers return in allocation response ");
	}

	/* A kubelet up to 1.36 looks the devices up again after the call, unchecked (manager.go). */
	const struct resource *listed = resource_find(work->kubelet, resource);
	text_each (id, &ids->list) {
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
	allocation_add(work->kubelet, work->pod, work->container, resource, ids,
		       STEAL(response->container_responses[0]));
	return 0;
}

static int allocate_resource(const struct work *work, const struct kubelet_container *container,
			     const struct kubelet_limit *limit)
{
	struct kubelet_allocate_request request = {0};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct id_set ids CLEANUP_ID_SET = {0};
	int rc = choice_make(work->kubelet, container, limit, work->timeout_ms, &ids, work->err);
	if (rc == ERROR_REMOTE)
		resource_leak(work->kubelet, limit->resource, &ids);
	if (rc < 0 || ids.list.count == 0)
		return rc;

	struct kubelet_plugin *plugin = kubelet_resource_plugin(work->kubelet, limit->resource);
	if (plugin == NULL || plugin->channel == NULL)
		return refuse_stopped(work, limit->resource);
	const char **order CLEANUP_FREE = id_set_shuffled(&ids, &work->kubelet->random);
	kubelet_allocate_request_add(&request, order, ids.list.count);
	rc = own_call(plugin, &kubelet_method_allocate, &request.request.base, 0, work->timeout_ms,
		      &reply, work->err);
	if (rc < 0)
		return rc;

	const struct text_list list = {.items = message_strings(order), .count = ids.list.count};
	struct kubelet_event event = event_of(work, KUBELET_EVENT_ALLOCATE);
	event.resource = limit->resource;
	event.ids = &list;
	event.code = reply.code;
	event.text = reply.code == RPC_OK ? NULL : reply.message;
	event.duration_ms = (int64_t)reply.duration_ms;
	if (reply.reply != NULL)
		event.size = (int64_t)protobuf_c_message_get_packed_size(reply.reply);
	kubelet_report(work->kubelet, event);
	return keep_answer(work, limit->resource, &ids, &reply);
}

/* A refusal, and a plugin that is gone, are outcomes; every other error is our own. */
static int end_badly(const struct work *work, int rc, const char *reason, const char *before,
		     const char *after, struct kubelet_outcome *out, struct error *err)
{
	if (rc != ERROR_REMOTE && rc != ERROR_UNAVAILABLE)
		return error_copy(err, work->err);
	const char *why = rc == ERROR_REMOTE ? work->kubelet->refusal : work->err->text;
	*out = (struct kubelet_outcome){
		.reason = reason,
		.message = text_format("%s%s%s", before, why, after),
	};
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
	size_t count = container->limit_count;
	const struct kubelet_limit **order CLEANUP_FREE =
		memory_allocate(count + 1, sizeof(const struct kubelet_limit *));
	int rc = 0;
	*out = (struct kubelet_outcome){0};
	reusable_keep(kubelet, container->pod);

	/* The limits come in the random order of a Go map. */
	for (size_t i = 0; i < count; i++)
		order[i] = &container->limits[i];
	random_shuffle(&kubelet->random, order, count);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = allocate_resource(&work, container, order[i]);
	if (rc == 0)
		reusable_update(kubelet, container);
	else
		allocation_remove(kubelet, container->pod, container->name);
	checkpoint_write(kubelet);

	/* lifecycle/predicate.go: the text of an error that the admission handler did not make. */
	if (rc < 0)
		return end_badly(&work, rc, "UnexpectedAdmissionError", "Allocate failed due to ",
				 ", which is unexpected", out, err);
	out->accepted = true;
	kubelet_report(kubelet, event_of(&work, KUBELET_EVENT_ADMITTED));
	return 0;
}

/* GetDeviceRunContainerOptions: PreStartContainer where it is required, then the merge. */

/* Is it a device node, or a folder of /dev that may hold one? */
static bool is_of_devices(const char *path)
{
	static const char *const others[] = {"console", "fd", "mqueue", "pts", "shm", NULL};
	uv_fs_t request;
	const int rc = uv_fs_lstat(NULL, &request, path, NULL);
	const unsigned type = (unsigned)request.statbuf.st_mode & FILE_TYPE;
	uv_fs_req_cleanup(&request);
	return rc == 0 && (type == FILE_CHARACTER || type == FILE_BLOCK || type == FILE_FOLDER) &&
	       others[text_position(others, path_base(path))] == NULL;
}

/* Of a folder, such as /dev/snd, container runtimes make each node. */
static void add_device(struct grant_merge *merge, const struct grant_entry *device, int folders)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (folders == 0 || !path_is_within(device->host_path, "/dev") ||
	    file_list(device->host_path, &names, NULL) < 0) {
		grant_merge_add(merge, GRANT_DEVICE, *device);
		return;
	}
	text_each (name, &names) {
		char *host CLEANUP_FREE = path_join(device->host_path, name);
		char *container CLEANUP_FREE = path_join(device->container_path, name);
		if (is_of_devices(host))
			add_device(merge,
				   &(struct grant_entry){.container_path = container,
							 .host_path = host,
							 .permissions = device->permissions},
				   folders - 1);
	}
}

/* Variables and annotations are maps: within one answer protobuf-go keeps the last value of a key. */
static void add_answer(struct grant_merge *merge, bool windows, const struct kubelet_answer *answer)
{
	const V1beta1__ContainerAllocateResponse *response = answer->response;
	grant_merge_from(merge, answer->resource);
	answer_each (env, response, envs)
		grant_merge_add(merge, GRANT_ENV,
				(struct grant_entry){.name = env->key, .value = env->value});
	answer_each (device, response, devices)
		add_device(merge,
			   &(struct grant_entry){.container_path = device->container_path,
						 .host_path = device->host_path,
						 .permissions = device->permissions},
			   windows ? 0 : NODE_FOLDERS);
	answer_each (mount, response, mounts)
		grant_merge_add(merge, GRANT_MOUNT,
				(struct grant_entry){.container_path = mount->container_path,
						     .host_path = mount->host_path,
						     .read_only = mount->read_only != 0});
	answer_each (annotation, response, annotations)
		grant_merge_add(
			merge, GRANT_ANNOTATION,
			(struct grant_entry){.name = annotation->key, .value = annotation->value});
	answer_each (cdi, response, cdi_devices) {
		const struct grant_entry device = {.name = cdi->name};
		if (windows)
			grant_merge_drop(merge, GRANT_CDI_DEVICE, &device);
		else
			grant_merge_add(merge, GRANT_CDI_DEVICE, device);
	}
}

void kubelet_merge(bool windows, const struct kubelet_answer *answers, size_t count,
		   struct grant *out)
{
	struct grant_merge merge CLEANUP_GRANT_MERGE = {.out = out};
	*out = (struct grant){0};
	items_each (answer, answers, count)
		add_answer(&merge, windows, answer);
}

static int pre_start(const struct work *work, const char *name)
{
	const struct allocation *allocation =
		allocation_find(work->kubelet, work->pod, work->container, name);
	const struct resource *resource = resource_find(work->kubelet, name);
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};

	/* The options are unknown after a kubelet restart, before the plugin registers again. */
	if (allocation == NULL || resource == NULL || resource->endpoint == NULL ||
	    !resource->endpoint->options.pre_start_required)
		return 0;
	if (resource->endpoint->channel == NULL)
		return refuse_stopped(work, name);

	const char **order CLEANUP_FREE = id_set_shuffled(&allocation->ids, &work->kubelet->random);
	const V1beta1__PreStartContainerRequest request =
		kubelet_pre_start_request(order, allocation->ids.list.count);
	int rc = own_call(resource->endpoint, &kubelet_method_pre_start, &request.base,
			  work->kubelet->options.pre_start_timeout_ms, work->timeout_ms, &reply,
			  work->err);
	if (rc < 0)
		return rc;

	struct kubelet_event event = event_of(work, KUBELET_EVENT_PRE_START);
	event.resource = name;
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

int kubelet_start_container(struct kubelet *kubelet, const char *pod, const char *container,
			    uint64_t timeout_ms, struct kubelet_outcome *out, struct grant *grant,
			    struct error *err)
{
	struct error why = {0};
	const struct work work = {kubelet, pod, container, timeout_ms, &why};
	size_t count = 0;
	*out = (struct kubelet_outcome){0};
	*grant = (struct grant){0};

	/* The container's resources, in the random order of a Go map. During a call a kubelet may restart, which makes its
	 * allocations anew. */
	struct text_list names CLEANUP_TEXT_LIST = {0};
	chain_each (each, kubelet->allocations) {
		if (strcmp(each->pod, pod) == 0 && strcmp(each->container, container) == 0)
			text_list_add(&names, each->resource);
	}
	if (names.count != 0)
		random_shuffle(&kubelet->random, names.items, names.count);
	text_each (name, &names) {
		int rc = pre_start(&work, name);
		if (rc < 0)
			return end_badly(&work, rc, "CreateContainerError", "", "", out, err);
	}

	struct kubelet_answer *answers CLEANUP_FREE =
		memory_allocate(names.count + 1, sizeof(*answers));
	text_each (name, &names) {
		const struct allocation *each = allocation_find(kubelet, pod, container, name);
		if (each != NULL)
			answers[count++] = (struct kubelet_answer){each->resource, each->response};
	}
	if (count == 0)
		return error_set(err, ERROR_NOT_FOUND, "pod %s has no container %s with devices",
				 pod, container);
	kubelet_merge(kubelet->options.os == KUBELET_OS_WINDOWS, answers, count, grant);

	out->accepted = true;
	struct kubelet_event event = event_of(&work, KUBELET_EVENT_CONTAINER_OPTIONS);
	event.grant = grant;
	kubelet_report(kubelet, event);
	return 0;
}
