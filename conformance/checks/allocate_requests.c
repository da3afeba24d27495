/* SPDX-License-Identifier: MIT */
/* Allocate requests of other kinds than one container's: malformed, many at once, cancelled, and after a restart. */
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/handed_out.h"
#include "conformance/checks/rig_ids.h"
#include "conformance/checks/tally.h"

#include <string.h>

enum {
	PARALLEL_CALLS = 64,
	CANCELLED_CALLS = 20,
	CLIENTS = 8,
	SLOW_MS = 250,	  /* for one call */
	LATER_CALLS = 20, /* after which files of an answer are still needed */
	LATER_MS = 3500,  /* the same */
	UNHEALTHY_MAX = 16,
};

void allocate_unhealthy_id(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	TALLY(refused, run, "Allocate of an unhealthy device", "an error");
	rig_each (resource, rig) {
		const struct kubelet_device_list *list =
			kubelet_resource_devices(rig->kubelet, resource);
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		const char *healthy = NULL;
		listed_each (device, list) {
			if (rig_holder(rig, resource, device->id) != NULL)
				continue;
			if (kubelet_device_is_healthy(device))
				healthy = device->id;
			else if (ids.count < UNHEALTHY_MAX)
				text_list_add(&ids, device->id);
		}
		char *partner CLEANUP_FREE = healthy != NULL ? memory_copy(healthy) : NULL;
		for (size_t i = 0; i < ids.count * 2; i++) {
			const char *id = ids.items[i / 2];
			const bool together = i % 2 != 0;
			const char *const asked[] = {together ? partner : id, id};
			struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
			if (together && partner == NULL)
				continue;
			if (!allocate_expect_answered(rig, resource, asked, together ? 2 : 1,
						      &reply))
				return;
			/* It may have recovered meanwhile. */
			const struct kubelet_device *now =
				kubelet_resource_device(rig->kubelet, resource, id);
			if (now != NULL && !kubelet_device_is_healthy(now))
				tally_add(&refused, reply.code != RPC_OK, "OK for %s%s", id,
					  together ? " together with a healthy one" : "");
		}
	}
	if (rig != NULL && refused.count == 0)
		check_not_applicable(run, "the plugin lists no unhealthy device");
}

void allocate_duplicate_id(struct rig *rig, const struct rig_item *item)
{
	const char *const twice[] = {item->ids->items[0], item->ids->items[0]};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	if (check_expect_ok(rig->run, rig_allocate(rig, item->resource, twice, 2, &reply, &err),
			    "Allocate of one id twice is answered", &err))
		allocate_expect_serves(rig, item);
}

void allocate_no_requests(struct rig *rig, const struct rig_item *item)
{
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	int rc = rig_call(rig, item->resource, &kubelet_method_allocate, &request.base, &reply,
			  &err);
	if (check_expect_ok(rig->run, rc, "Allocate without container requests is answered", &err))
		allocate_expect_serves(rig, item);
}

enum method { ALLOCATE, PREFER, START, METHODS };
static const struct kubelet_method *const all_methods[METHODS] = {
	&kubelet_method_allocate, &kubelet_method_prefer, &kubelet_method_pre_start};

/* Calls that run at the same time. */
struct parallel {
	struct parallel_call {
		struct parallel *all;
		const char *id;
		struct rpc_call *call;	 /* NULL: ended */
		struct rpc_channel *own; /* NULL: the kubelet's */
		int code;
		char message[RIG_LINE_MAX];
		ProtobufCMessage *reply;
	} calls[PARALLEL_CALLS];
	size_t open;
};

static void on_reply(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct parallel_call *call = user;
	call->call = NULL;
	call->code = status->code;
	call->reply = reply;
	(void)snprintf(call->message, sizeof(call->message), "%s", status->message);
	call->all->open--;
}

static bool all_ended(void *user)
{
	const struct parallel *parallel = user;
	return parallel->open == 0;
}

/* The methods of this plugin that a kubelet calls; returns their number. */
static size_t methods_of(struct rig *rig, const char *resource, enum method methods[METHODS])
{
	const struct kubelet_plugin_options options = rig_options(rig, resource);
	size_t count = 0;
	methods[count++] = ALLOCATE;
	if (options.get_preferred_allocation_available)
		methods[count++] = PREFER;
	if (options.pre_start_required)
		methods[count++] = START;
	return count;
}

static int start_call(struct rig *rig, const struct rig_item *item, enum method method,
		      struct parallel_call *call, struct error *err)
{
	struct kubelet_allocate_request allocate = {0};
	struct kubelet_preferred_request prefer;
	const V1beta1__PreStartContainerRequest start = kubelet_pre_start_request(&call->id, 1);
	const ProtobufCMessage *const requests[METHODS] = {&allocate.request.base,
							   &prefer.request.base, &start.base};
	kubelet_allocate_request_add(&allocate, &call->id, 1);
	kubelet_preferred_request_init(&prefer, &call->id, 1, 1);
	return kubelet_call_start(kubelet_resource_plugin(rig->kubelet, item->resource),
				  all_methods[method], requests[method],
				  context_wait_ms(rig->context, RIG_CALL_MS), on_reply, call,
				  &call->call, err);
}

/* Starts `count` calls, of the methods in turn, for id after id of the item, and again from the first. False:
 * recorded. */
static bool start_calls(struct rig *rig, const struct rig_item *item, size_t count,
			const enum method *methods, size_t method_count, struct parallel *parallel)
{
	for (size_t i = 0; i < count; i++) {
		struct parallel_call *call = &parallel->calls[i];
		struct error err = {0};
		call->all = parallel;
		call->id = item->ids->items[i / method_count % item->ids->count];
		if (!rig_expect_ok(rig,
				   start_call(rig, item, methods[i % method_count], call, &err),
				   "a connection for calls at the same time", &err))
			return false;
		parallel->open++;
	}
	return true;
}

static void parallel_free(struct parallel **parallel)
{
	array_each (call, (*parallel)->calls) {
		if (call->call != NULL)
			rpc_call_cancel(call->call);
		rpc_channel_close(call->own);
		protobuf_c_message_free_unpacked(call->reply, NULL);
	}
	free(*parallel);
}

/* A kubelet makes calls one after the other: a slow plugin that handles one call at a time gets no more concurrent
 * calls than it can answer. */
static size_t calls_at_once(struct rig *rig, const struct rig_item *item, size_t most)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	(void)rig_ask(rig, item->resource, rig_ids(item->ids), 1, &reply);
	if (reply.duration_ms < SLOW_MS)
		return most;
	size_t count = context_wait_ms(rig->context, RIG_CALL_MS) / 2 / reply.duration_ms;
	return count < 2 ? 2 : count < most ? count : most;
}

/* The calls of start_calls(), and their answers. False: recorded. A connection that is lost has its reason in the plugin's end. */
static bool make_calls(struct rig *rig, const struct rig_item *item, size_t count,
		       const enum method *methods, size_t method_count, struct parallel *parallel)
{
	struct error err = {0};
	if (!start_calls(rig, item, count, methods, method_count, parallel))
		return false;
	int rc = rig_wait(rig, all_ended, parallel, context_wait_ms(rig->context, RIG_CALL_MS),
			  "answers to all calls", &err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		const struct parallel_call *call = &parallel->calls[i];
		if (call->code == RPC_UNAVAILABLE)
			rc = error_set(&err, ERROR_UNAVAILABLE, "UNAVAILABLE %s for %s",
				       call->message, call->id);
	}
	return rig_expect_ok(rig, rc, "calls at the same time are answered", &err);
}

/* Makes calls of all methods, which may wait for each other. */
static void mixed_calls(struct rig *rig, const struct rig_item *item, size_t calls)
{
	struct parallel *parallel CLEANUP(parallel_free) = memory_allocate(1, sizeof(*parallel));
	TALLY(answers, rig->run, "calls of several methods at the same time", "OK");
	enum method methods[METHODS];
	const size_t count = methods_of(rig, item->resource, methods);
	if (count == 1 || !make_calls(rig, item, calls, methods, count, parallel))
		return;
	for (size_t i = 0; i < calls; i++) {
		const struct parallel_call *call = &parallel->calls[i];
		tally_add(&answers, call->code == RPC_OK, "%s: %s %s for %s",
			  path_base(all_methods[methods[i % count]]->path),
			  rpc_code_name(call->code), call->message, call->id);
		if (call->code == RPC_DEADLINE_EXCEEDED)
			check_advise(rig->run,
				     "Calls may wait for each other: take locks in the same order "
				     "in all methods, and hold none while waiting.");
	}
}

void allocate_parallel(struct rig *rig, const struct rig_item *item)
{
	static const enum method method = ALLOCATE;
	struct parallel *parallel CLEANUP(parallel_free) = memory_allocate(1, sizeof(*parallel));
	TALLY(answers, rig->run, "calls at the same time", "OK");
	TALLY(devices, rig->run, "devices in their answers", "those of the id");
	bool stable = allocate_is_stable(rig, item);
	const size_t calls = calls_at_once(rig, item, PARALLEL_CALLS);
	if (!make_calls(rig, item, calls, &method, 1, parallel))
		return;

	items_each (call, parallel->calls, calls) {
		const char *id = call->id;
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		struct allocate_difference difference = {0};
		tally_add(&answers, call->code == RPC_OK, "%s: %s %s", id,
			  rpc_code_name(call->code), call->message);
		const V1beta1__AllocateResponse *response =
			(const V1beta1__AllocateResponse *)call->reply;
		if (response == NULL || response->n_container_responses == 0)
			continue;
		const V1beta1__ContainerAllocateResponse *by_itself =
			allocate_expect(rig, item->resource, &id, 1, id, &reply);
		if (by_itself == NULL)
			return;
		bool differs = allocate_changed(stable, response->container_responses[0], by_itself,
						&difference);
		tally_add(&devices, !differs, "%s: %s, not %s", id, difference.first,
			  difference.second);
	}
	mixed_calls(rig, item, calls);
}

void allocate_parallel_clients(struct rig *rig, const struct rig_item *item)
{
	const struct kubelet_registration *r = rig_registration(rig, item->resource);
	struct parallel *parallel CLEANUP(parallel_free) = memory_allocate(1, sizeof(*parallel));
	TALLY(answers, rig->run, "clients on connections of their own", "OK");
	struct error err = {0};
	if (r == NULL || r->socket == NULL) {
		check_unsupported(rig->run, "the plugin's socket is not known");
		return;
	}
	char *address CLEANUP_FREE = text_format("unix:%s", r->socket);
	for (size_t i = 0; i < CLIENTS; i++) {
		struct parallel_call *call = &parallel->calls[i];
		struct kubelet_allocate_request request = {0};
		const char *id = item->ids->items[i % item->ids->count];
		kubelet_allocate_request_add(&request, &id, 1);
		call->all = parallel;
		int rc = rpc_channel_open(&rig->loop, address, NULL, &call->own, &err);
		if (rc == 0)
			rc = rpc_unary(call->own, kubelet_method_allocate.path,
				       &request.request.base, kubelet_method_allocate.reply,
				       RIG_CALL_MS, on_reply, call, &call->call, &err);
		if (!rig_expect_ok(rig, rc, "a connection to the plugin's socket", &err))
			return;
		parallel->open++;
	}
	int rc = rig_wait(rig, all_ended, parallel, context_wait_ms(rig->context, RIG_CALL_MS),
			  "answers to all clients", &err);
	if (!rig_expect_ok(rig, rc, "clients at the same time are answered", &err))
		return;
	items_each (call, parallel->calls, CLIENTS)
		tally_add(&answers, call->code == RPC_OK, "%s %s", rpc_code_name(call->code),
			  call->message);
}

/* Calls of each method; a kubelet that ends cancels all open calls. pre-start.cancelled judges
 * PreStartContainer. */
void allocate_cancelled(struct rig *rig, const struct rig_item *item)
{
	enum method methods[METHODS];
	const size_t count = methods_of(rig, item->resource, methods);
	const size_t calls = calls_at_once(rig, item, CANCELLED_CALLS);
	for (size_t k = 0; k < count && methods[k] != START; k++) {
		struct parallel *parallel CLEANUP(parallel_free) =
			memory_allocate(1, sizeof(*parallel));
		if (!start_calls(rig, item, calls, &methods[k], 1, parallel))
			return;
		if (methods[k] == PREFER) /* they leave */
			(void)rig_watch(rig, 1, 1);
		items_each (call, parallel->calls, calls) {
			if (call->call != NULL)
				rpc_call_cancel(call->call);
		}
		if (methods[k] == PREFER) {
			struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
			struct error err = {0};
			int rc = rig_prefer(rig, item->resource, rig_ids(item->ids), 1, &reply,
					    &err);
			if (!rig_expect_answer(rig, rc, "GetPreferredAllocation afterwards", &reply,
					       &err))
				return;
		}
		allocate_expect_serves(rig, item);
	}
}

void allocate_size(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (allocate_together(rig, item, &reply) == NULL) {
		rpc_answer_free(&reply);
		reply = (struct rpc_answer){0};
		(void)allocate_expect(rig, item->resource, rig_ids(item->ids), 1,
				      "Allocate of one device", &reply);
	}
	if (reply.reply != NULL)
		(void)check_expect_at_most(
			rig->run, "bytes of the answer",
			(long long)protobuf_c_message_get_packed_size(reply.reply),
			requirement_limit(CHECK_ALC_27));
}

/* The kubelet keeps an answer as long as the pod lives, and applies it at each start of the container. */
void allocate_files_stay(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct text_list paths CLEANUP_TEXT_LIST = {0};
	TALLY(files, run, "files of the first answer, after later calls and seconds", "present");
	if (rig == NULL)
		return;
	rig_each (resource, rig) {
		/* The files that the first answer mounts; then Allocate again and again. */
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		struct rpc_answer first CLEANUP_RPC_ANSWER = {0};
		if (!rig_healthy_ids(rig, resource, &ids))
			return;
		const char *const *each = rig_ids(&ids);
		const V1beta1__ContainerAllocateResponse *answer =
			allocate_expect(rig, resource, each, 1, "Allocate of one device", &first);
		if (answer == NULL)
			return;
		handed_out_add_mounts(answer, true, &paths);
		for (size_t i = 0; i < LATER_CALLS; i++) {
			struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
			if (allocate_expect(rig, resource, &each[i % ids.count], 1,
					    "a later Allocate", &reply) == NULL)
				return;
		}
	}
	if (paths.count == 0) {
		check_not_applicable(run, "the answers mount no file");
		return;
	}
	(void)rig_watch(rig, LATER_MS, LATER_MS);
	text_each (path, &paths)
		tally_add(&files, file_exists(path), "%s is gone", path);
}
