/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "conformance/kubelet/doubles/scripted_internal.h"
#include "rpc/message.h"
#include "rpc/proto/pluginregistration_v1.pb-c.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	BLOCKED_MS = 10,
};

/* One call that is not answered yet; for ListAndWatch, one open stream. */
struct scripted_call {
	struct scripted_call *next;
	struct scripted_plugin *plugin;
	enum script_method method;
	struct rpc_stream *stream;
	struct scripted_bytes request;
	const struct script_fault *fault; /* NULL: answered normally */
	size_t number;
	struct timer *timer;
	size_t next_list;
	bool waits_for_window;
};

static void call_free(struct scripted_call *call)
{
	struct scripted_call **link = &call->plugin->open;
	while (*link != NULL && *link != call)
		link = &(*link)->next;
	if (*link == call)
		*link = call->next;
	timer_cancel(&call->timer);
	free(call->request.data);
	free(call);
}

/* The caller ended the call, or its connection. */
static void on_call_end(void *user)
{
	struct scripted_call *call = user;
	scripted_note(call->plugin, "%s ended", script_method_name(call->method));
	call_free(call);
}

void scripted_drop_calls(struct scripted_plugin *plugin)
{
	while (plugin->open != NULL) {
		rpc_stream_on_end(plugin->open->stream, NULL, NULL);
		rpc_stream_on_drain(plugin->open->stream, NULL, NULL);
		call_free(plugin->open);
	}
}

size_t scripted_plugin_streams(const struct scripted_plugin *plugin)
{
	size_t count = 0;
	for (const struct scripted_call *call = plugin->open; call != NULL; call = call->next)
		count += call->method == SCRIPT_LIST_AND_WATCH ? 1 : 0;
	return count;
}

/* The call is over; the stream continues by itself. */
static struct rpc_stream *call_release(struct scripted_call *call)
{
	struct rpc_stream *stream = call->stream;
	rpc_stream_on_end(stream, NULL, NULL);
	rpc_stream_on_drain(stream, NULL, NULL);
	call_free(call);
	return stream;
}

static void finish(struct scripted_call *call, int code, const char *message)
{
	struct scripted_plugin *plugin = call->plugin;
	const char *method = script_method_name(call->method);
	scripted_note(plugin, "%s answered %s %s", method, rpc_code_name(code), message);
	rpc_stream_finish(call_release(call), code, "%s", message);
}

static void reply_bytes(struct scripted_call *call, const struct scripted_bytes *bytes)
{
	struct error err = {0};
	const struct rpc_slice slice = {bytes->data, bytes->size};
	if (rpc_stream_send(call->stream, slice, &err) != 0)
		finish(call, RPC_INTERNAL, err.text);
	else
		finish(call, RPC_OK, "");
}

/* The request; NULL: it is not of this type. */
static void *unpack(const struct scripted_call *call, const ProtobufCMessageDescriptor *type)
{
	const struct rpc_slice bytes = {call->request.data, call->request.size};
	ProtobufCMessage *message = NULL;
	(void)message_unpack(type, bytes, &message);
	return message;
}

static void reply(struct scripted_call *call, const ProtobufCMessage *message)
{
	struct scripted_bytes bytes = {0};
	struct error err = {0};
	if (scripted_pack(message, &bytes, &err) != 0)
		finish(call, RPC_INTERNAL, err.text);
	else
		reply_bytes(call, &bytes);
	free(bytes.data);
}

/*
 * ListAndWatch.
 */

static void watch_advance(void *user);

static const struct kubelet_device_list *watch_list(const struct scripted_call *call)
{
	const struct scripted_plugin *plugin = call->plugin;
	size_t last = plugin->script->list_count - 1;
	if (plugin->overridden)
		return &plugin->override;
	if (plugin->script->later_streams.set && call->number >= plugin->script->later_streams.skip)
		return &plugin->script->later_streams.devices;
	return &plugin->script->lists[call->next_list < last ? call->next_list : last].devices;
}

static bool watch_send(struct scripted_call *call)
{
	struct scripted_bytes bytes = {0};
	struct error err = {0};
	int rc = scripted_list(watch_list(call), &bytes, &err);
	const struct rpc_slice slice = {bytes.data, bytes.size};
	if (rc == 0)
		rc = rpc_stream_send(call->stream, slice, &err);
	free(bytes.data);
	call->waits_for_window = rc == ERROR_BUSY;
	if (rc == 0 || rc == ERROR_BUSY)
		return true;
	finish(call, RPC_INTERNAL, err.text);
	return false;
}

static void watch_end(void *user)
{
	struct scripted_call *call = user;
	const struct script_end *end = &call->plugin->script->end;
	if (end->cut)
		scripted_plugin_cut(call->plugin);
	else
		finish(call, end->code, end->message == NULL ? "" : end->message);
}

static void watch_wait(struct scripted_call *call, uint64_t delay_ms, void (*then)(void *user))
{
	timer_cancel(&call->timer);
	(void)timer_start(call->plugin->loop, delay_ms, 0, then, call, &call->timer, NULL);
}

/* Sends the list that is due and arranges for what follows. */
static void watch_advance(void *user)
{
	struct scripted_call *call = user;
	const struct script *script = call->plugin->script;
	timer_cancel(&call->timer);
	if (!watch_send(call))
		return;
	call->next_list++;
	if (script->repeat_lists && call->next_list == script->list_count)
		call->next_list = 1;
	if (call->next_list < script->list_count)
		watch_wait(call, script->lists[call->next_list].after_ms, watch_advance);
	else if (script->storm_ms > 0)
		watch_wait(call, script->storm_ms, watch_advance);
	else if (script->end.set)
		watch_wait(call, script->end.after_ms, watch_end);
}

static void on_drain(struct rpc_stream *stream, void *user)
{
	struct scripted_call *call = user;
	(void)stream;
	if (call->waits_for_window)
		(void)watch_send(call);
}

static bool copy_list(const struct kubelet_device_list *from, struct kubelet_device_list *to)
{
	to->items = calloc(from->count + 1, sizeof(*to->items));
	to->users = calloc(1, sizeof(*to->users));
	bool good = to->items != NULL && to->users != NULL;
	for (; good && to->count < from->count; to->count++) {
		const struct kubelet_device *device = &from->items[to->count];
		struct kubelet_device *copy = &to->items[to->count];
		*copy = *device;
		copy->id = strdup(device->id);
		copy->health = strdup(device->health);
		copy->numa = calloc(device->numa_count + 1, sizeof(*copy->numa));
		good = copy->id != NULL && copy->health != NULL && copy->numa != NULL;
		if (good && device->numa_count > 0)
			memcpy(copy->numa, device->numa, device->numa_count * sizeof(*copy->numa));
	}
	return good;
}

int scripted_plugin_list(struct scripted_plugin *plugin, const struct kubelet_device_list *devices,
			 struct error *err)
{
	struct kubelet_device_list copy = {0};
	if (!copy_list(devices, &copy))
		return error_memory(err);
	kubelet_device_list_free(&plugin->override);
	plugin->override = copy;
	plugin->overridden = true;
	struct scripted_call *next = NULL;
	for (struct scripted_call *call = plugin->open; call != NULL; call = next) {
		next = call->next;
		if (call->method == SCRIPT_LIST_AND_WATCH)
			(void)watch_send(call);
	}
	return 0;
}

/*
 * Unary calls.
 */

static const struct kubelet_device *known_device(const struct scripted_plugin *plugin,
						 const char *id)
{
	const struct script *script = plugin->script;
	if (plugin->overridden)
		return kubelet_device_find(&plugin->override, id);
	for (size_t i = script->list_count; i > 0; i--) {
		const struct kubelet_device *device =
			kubelet_device_find(&script->lists[i - 1].devices, id);
		if (device != NULL)
			return device;
	}
	return NULL;
}

/* What is wrong with an id; NULL: nothing, or the script does not care. Caller frees. */
static char *id_problem(const struct scripted_plugin *plugin, const char *id, int *code)
{
	bool blind = plugin->script->needs_stream && plugin->calls[SCRIPT_LIST_AND_WATCH] == 0;
	const struct kubelet_device *device = blind ? NULL : known_device(plugin, id);
	if (device == NULL && !plugin->script->accept_unknown) {
		*code = RPC_NOT_FOUND;
		return text_format("unknown device %s", id);
	}
	if (device != NULL && !kubelet_device_is_healthy(device) &&
	    !plugin->script->accept_unhealthy) {
		*code = RPC_FAILED_PRECONDITION;
		return text_format("unhealthy device %s", id);
	}
	return NULL;
}

static char *ids_problem(const struct scripted_plugin *plugin, char *const *ids, size_t count,
			 int *code)
{
	for (size_t i = 0; i < count; i++) {
		char *problem = id_problem(plugin, ids[i], code);
		if (problem != NULL)
			return problem;
	}
	return NULL;
}

static bool is_known(const struct scripted_plugin *plugin, const char *id)
{
	bool blind = plugin->script->needs_stream && plugin->calls[SCRIPT_LIST_AND_WATCH] == 0;
	return !blind && known_device(plugin, id) != NULL;
}

static void leave_out_unknown(const struct scripted_plugin *plugin,
			      V1beta1__ContainerAllocateRequest *request)
{
	size_t kept = 0;
	for (size_t i = 0; i < request->n_devices_ids; i++) {
		if (is_known(plugin, request->devices_ids[i]))
			request->devices_ids[kept++] = request->devices_ids[i];
		else
			free(request->devices_ids[i]);
	}
	request->n_devices_ids = kept;
}

/* A link that exists already will do. */
static bool make_link(const char *link)
{
	uv_fs_t request;
	int rc = link == NULL ? 0 : uv_fs_symlink(NULL, &request, "/", link, 0, NULL);
	if (link != NULL)
		uv_fs_req_cleanup(&request);
	return rc == 0 || rc == UV_EEXIST;
}

/* Makes the link of this call, and removes that of the call before. */
static void renew_link(const char *link, size_t number)
{
	char *made CLEANUP_FREE = text_format("%s%zu", link, number);
	char *before CLEANUP_FREE = text_format("%s%zu", link, number - 1);
	(void)make_link(made);
	if (number > 0)
		(void)unlink(before);
}

/* Misuses an id before validating it. */
static void handle_rashly(const struct script *script, const char *id)
{
	const char *place = script->touch != NULL ? strstr(script->touch, "{id}") : NULL;
	if (script->log_ids)
		(void)fprintf(stderr, "allocating %s\n", id);
	if (place == NULL)
		return;
	char *path CLEANUP_FREE = text_format("%.*s%s%s", (int)(place - script->touch),
					      script->touch, id, place + strlen("{id}"));
	FILE *file = fopen(path, "w");
	if (file != NULL)
		(void)fclose(file);
}

/* Adds the ids of earlier calls to those of the request, or keeps only the first ones. */
static void change_ids(struct scripted_plugin *plugin, V1beta1__ContainerAllocateRequest *request)
{
	uint64_t most = plugin->script->answered_ids;
	while (most != 0 && request->n_devices_ids > most)
		free(request->devices_ids[--request->n_devices_ids]);
	if (!plugin->script->accumulate)
		return;
	for (size_t i = 0; i < request->n_devices_ids; i++) {
		if (!text_list_has(&plugin->answered, request->devices_ids[i]))
			text_list_add(&plugin->answered, request->devices_ids[i]);
		free(request->devices_ids[i]);
	}
	free(request->devices_ids);
	request->devices_ids = calloc(plugin->answered.count + 1, sizeof(char *));
	request->n_devices_ids = 0;
	text_each (id, &plugin->answered)
		request->devices_ids[request->n_devices_ids++] = strdup(id);
}

static void answer_allocate(struct scripted_call *call)
{
	struct scripted_plugin *plugin = call->plugin;
	if (plugin->script->allocate_link != NULL)
		renew_link(plugin->script->allocate_link, call->number);
	if (plugin->script->shared_state) {
		free(call->request.data);
		call->request = (struct scripted_bytes){0};
		call->request.data = malloc(plugin->latest.size + 1);
		call->request.size = plugin->latest.size;
		memcpy(call->request.data, plugin->latest.data, plugin->latest.size);
	}

	struct scripted_bytes bytes = {0};
	struct error err = {0};
	V1beta1__AllocateRequest *request = unpack(call, &v1beta1__allocate_request__descriptor);
	if (request == NULL) {
		finish(call, RPC_INVALID_ARGUMENT, "the request is no AllocateRequest");
		return;
	}
	char *problem CLEANUP_FREE = NULL;
	int code = RPC_INTERNAL;
	for (size_t i = 0; problem == NULL && i < request->n_container_requests; i++) {
		V1beta1__ContainerAllocateRequest *one = request->container_requests[i];
		uint64_t most = plugin->script->max_ids;
		for (size_t k = 0; k < one->n_devices_ids; k++)
			handle_rashly(plugin->script, one->devices_ids[k]);
		problem = ids_problem(call->plugin, one->devices_ids, one->n_devices_ids, &code);
		if (problem == NULL && most != 0 && one->n_devices_ids > most) {
			problem = text_format(
				"maximum request size for shared resources is %llu; found %zu",
				(unsigned long long)most, one->n_devices_ids);
			code = 2; /* UNKNOWN, the code of a plain error in Go */
		}
		if (problem == NULL && plugin->script->accept_unknown)
			leave_out_unknown(plugin, one);
		if (problem == NULL)
			change_ids(plugin, one);
	}
	if (problem != NULL)
		finish(call, code, problem);
	else if (scripted_allocate(call->plugin->script, call->fault, request, call->number, &bytes,
				   &err) != 0)
		finish(call, RPC_INTERNAL, err.text);
	else
		reply_bytes(call, &bytes);
	free(bytes.data);
	v1beta1__allocate_request__free_unpacked(request, NULL);
}

static void answer_preferred(struct scripted_call *call)
{
	struct scripted_bytes bytes = {0};
	struct error err = {0};
	V1beta1__PreferredAllocationRequest *request =
		unpack(call, &v1beta1__preferred_allocation_request__descriptor);
	if (request == NULL)
		finish(call, RPC_INVALID_ARGUMENT, "the request is no PreferredAllocationRequest");
	else if (scripted_preferred(call->plugin->script, request, call->number, &bytes, &err) != 0)
		finish(call, RPC_INTERNAL, err.text);
	else
		reply_bytes(call, &bytes);
	free(bytes.data);
	v1beta1__preferred_allocation_request__free_unpacked(request, NULL);
}

static void answer_pre_start(struct scripted_call *call)
{
	V1beta1__PreStartContainerResponse response = V1BETA1__PRE_START_CONTAINER_RESPONSE__INIT;
	V1beta1__PreStartContainerRequest *request =
		unpack(call, &v1beta1__pre_start_container_request__descriptor);
	int code = RPC_INVALID_ARGUMENT;
	char *problem CLEANUP_FREE = request == NULL
					     ? strdup("the request is no PreStartContainerRequest")
					     : ids_problem(call->plugin, request->devices_ids,
							   request->n_devices_ids, &code);
	const char *link = call->plugin->script->pre_start_link;
	if (problem != NULL)
		finish(call, code, problem);
	else if (!make_link(link))
		finish(call, RPC_INTERNAL, link);
	else
		reply(call, &response.base);
	v1beta1__pre_start_container_request__free_unpacked(request, NULL);
}

static void answer_options(struct scripted_call *call)
{
	const struct kubelet_plugin_options *options = &call->plugin->script->options;
	V1beta1__DevicePluginOptions response = V1BETA1__DEVICE_PLUGIN_OPTIONS__INIT;
	response.pre_start_required = options->pre_start_required;
	response.get_preferred_allocation_available = options->get_preferred_allocation_available;
	reply(call, &response.base);
}

static void answer_info(struct scripted_call *call)
{
	const struct script *script = call->plugin->script;
	Pluginregistration__PluginInfo info;
	char kind[] = "DevicePlugin";
	char *versions[] = {script->version};
	pluginregistration__plugin_info__init(&info);
	info.type = script->info_type == NULL ? kind : script->info_type;
	info.name = script->info_name == NULL ? script->resource : script->info_name;
	if (script->info_endpoint != NULL)
		info.endpoint = script->info_endpoint;
	info.supported_versions = versions;
	info.n_supported_versions = 1;
	reply(call, &info.base);
}

static void answer_notify(struct scripted_call *call)
{
	Pluginregistration__RegistrationStatusResponse response =
		PLUGINREGISTRATION__REGISTRATION_STATUS_RESPONSE__INIT;
	Pluginregistration__RegistrationStatus *status =
		pluginregistration__registration_status__unpack(NULL, call->request.size,
								call->request.data);
	if (status != NULL) {
		bool registered = status->plugin_registered != 0;
		call->plugin->registered += registered ? 1 : 0;
		call->plugin->refused += registered ? 0 : 1;
		(void)snprintf(call->plugin->last_error, sizeof(call->plugin->last_error), "%s",
			       status->error);
		scripted_note(call->plugin, "registered: %s %s", registered ? "yes" : "no",
			      status->error);
		pluginregistration__registration_status__free_unpacked(status, NULL);
	}
	reply(call, &response.base);
}

static void answer(struct scripted_call *call)
{
	static void (*const answers[SCRIPT_METHOD_COUNT])(struct scripted_call * call) = {
		[SCRIPT_OPTIONS] = answer_options,   [SCRIPT_PREFERRED] = answer_preferred,
		[SCRIPT_ALLOCATE] = answer_allocate, [SCRIPT_PRE_START] = answer_pre_start,
		[SCRIPT_GET_INFO] = answer_info,     [SCRIPT_NOTIFY] = answer_notify,
	};
	if (call->method != SCRIPT_LIST_AND_WATCH) {
		answers[call->method](call);
		return;
	}
	rpc_stream_on_drain(call->stream, on_drain, call);
	watch_wait(call, call->plugin->script->lists[0].after_ms, watch_advance);
}

/* Instead of the answer; false: answer normally. */
static bool misbehave(struct scripted_call *call)
{
	const struct script_fault *fault = call->fault;
	static uint8_t nonsense[] = {0xff, 0xff, 0xff, 0xff, 0xff};
	if (fault == NULL)
		return false;
	if (fault->exit_code >= 0)
		scripted_exit(call->plugin, fault->exit_code);
	else if (fault->cut)
		scripted_plugin_cut(call->plugin);
	else if (fault->code >= 0)
		finish(call, fault->code, fault->message == NULL ? "" : fault->message);
	else if (fault->malformed)
		reply_bytes(call, &(struct scripted_bytes){nonsense, sizeof(nonsense)});
	else if (fault->empty)
		reply_bytes(call, &(struct scripted_bytes){nonsense, 0});
	else
		return fault->hang;
	return true;
}

/* Does a stream wait for its reader? */
static bool is_blocked(const struct scripted_plugin *plugin)
{
	for (const struct scripted_call *call = plugin->open; call != NULL; call = call->next) {
		if (call->waits_for_window)
			return true;
	}
	return false;
}

static void on_call_time(void *user)
{
	struct scripted_call *call = user;
	timer_cancel(&call->timer);
	if (call->plugin->script->block_on_window && is_blocked(call->plugin))
		watch_wait(call, BLOCKED_MS, on_call_time);
	else if (!misbehave(call))
		answer(call);
}

static void sleep_for_ever(void *argument)
{
	(void)argument;
	while (true)
		uv_sleep(1000);
}

static void leak(struct scripted_plugin *plugin)
{
	const struct script_leak *leak = &plugin->script->leak;
	if (leak->bytes != 0) {
		char *block = malloc(leak->bytes);
		memset(block, 'x', leak->bytes - 1);
		block[leak->bytes - 1] = '\0';
		text_list_take(&plugin->leaked, block);
	}
	for (uint64_t i = 0; i < leak->descriptors; i++)
		(void)open("/dev/null", O_RDONLY);
	for (uint64_t i = 0; i < leak->threads; i++) {
		uv_thread_t thread;
		(void)uv_thread_create(&thread, sleep_for_ever, NULL);
	}
}

static void handle(struct scripted_plugin *plugin, enum script_method method,
		   struct rpc_stream *stream, struct rpc_slice request)
{
	const struct script_fault *fault = &plugin->script->faults[method];
	struct scripted_call *call = calloc(1, sizeof(*call));
	uint8_t *bytes = malloc(request.size + 1);
	if (call == NULL || bytes == NULL) {
		free(call);
		free(bytes);
		rpc_stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "out of memory");
		return;
	}
	memcpy(bytes, request.data, request.size);
	size_t number = plugin->calls[method]++;
	const struct script_later_list *later = &plugin->script->after_call;
	if (method == SCRIPT_ALLOCATE && plugin->script->shared_state) {
		free(plugin->latest.data);
		plugin->latest = (struct scripted_bytes){malloc(request.size + 1), request.size};
		memcpy(plugin->latest.data, request.data, request.size);
	}
	if (method == plugin->script->leak.method)
		leak(plugin);
	if (later->set && method == later->method && number == later->skip)
		(void)scripted_plugin_list(plugin, &later->devices, NULL);
	bool faulty = fault->set && number >= fault->skip && number - fault->skip < fault->times;
	*call = (struct scripted_call){.next = plugin->open,
				       .plugin = plugin,
				       .method = method,
				       .stream = stream,
				       .request = {bytes, request.size},
				       .fault = faulty ? fault : NULL,
				       .number = number};
	plugin->open = call;
	rpc_stream_on_end(stream, on_call_end, call);
	scripted_note(plugin, "%s called", script_method_name((enum script_method)method));
	if (faulty && fault->delay_ms > 0)
		watch_wait(call, fault->delay_ms, on_call_time);
	else
		on_call_time(call);
}

static void on_options(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	handle(user, SCRIPT_OPTIONS, stream, request);
}

static void on_list_and_watch(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	handle(user, SCRIPT_LIST_AND_WATCH, stream, request);
}

static void on_preferred(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	handle(user, SCRIPT_PREFERRED, stream, request);
}

static void on_allocate(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	handle(user, SCRIPT_ALLOCATE, stream, request);
}

static void on_pre_start(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	handle(user, SCRIPT_PRE_START, stream, request);
}

static void on_get_info(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	handle(user, SCRIPT_GET_INFO, stream, request);
}

static void on_notify(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	handle(user, SCRIPT_NOTIFY, stream, request);
}

int scripted_add_methods(struct scripted_plugin *plugin, struct error *err)
{
	static rpc_handler *const handlers[SCRIPT_METHOD_COUNT] = {
		[SCRIPT_OPTIONS] = on_options,	   [SCRIPT_LIST_AND_WATCH] = on_list_and_watch,
		[SCRIPT_PREFERRED] = on_preferred, [SCRIPT_ALLOCATE] = on_allocate,
		[SCRIPT_PRE_START] = on_pre_start, [SCRIPT_GET_INFO] = on_get_info,
		[SCRIPT_NOTIFY] = on_notify,
	};
	int rc = 0;
	for (int method = 0; rc == 0 && method < SCRIPT_METHOD_COUNT; method++) {
		const char *service = method >= SCRIPT_GET_INFO
					      ? "/pluginregistration.Registration/"
					      : "/v1beta1.DevicePlugin/";
		char *path CLEANUP_FREE = text_format(
			"%s%s", service, script_method_name((enum script_method)method));
		rc = path == NULL
			     ? error_memory(err)
			     : rpc_server_add(plugin->server, path, handlers[method], plugin, err);
	}
	return rc;
}
