/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/kubelet/endpoints.h"
#include "conformance/kubelet/resources.h"
#include "rpc/message.h"
#include "rpc/resource_name.h"

#include <string.h>

/*
 * One attempt to register, from its arrival to its answer (plugin/v1beta1/server.go, Register, and
 * pluginmanager for the watcher's): validate, dial back, GetDevicePluginOptions, answer,
 * ListAndWatch.
 */
struct registration {
	struct kubelet_registration seen;
	struct kubelet *kubelet;
	struct text_list strings;  /* of `seen` */
	struct rpc_stream *stream; /* NULL: answered, abandoned, or by the watcher */
	struct timer *delay;
	struct rpc_call *options_call;
	registration_done *done;
	void *user;
	bool dialling;
	bool over;
};

static const char *keep(struct registration *registration, const char *string)
{
	struct text_list *strings = &registration->strings;
	text_list_add(strings, string);
	return strings->items[strings->count - 1];
}

static void registration_stop(struct registration *registration)
{
	registration->over = true;
	timer_cancel(&registration->delay);
	if (registration->stream != NULL)
		rpc_stream_on_end(registration->stream, NULL, NULL);
	registration->stream = NULL;
	if (registration->options_call != NULL)
		rpc_call_cancel(registration->options_call);
}

static void registration_free(struct registration *registration)
{
	registration_stop(registration);
	if (registration->dialling)
		dial_free(STEAL(registration->seen.plugin->dial));
	if (registration->seen.plugin != NULL)
		registration->seen.plugin->records--;
	text_list_free(&registration->strings);
	free(registration);
}

/* The place of an attempt's record, as long as it is kept. */
static struct registration **place_of(struct kubelet *kubelet, size_t index)
{
	return &kubelet->registrations[index % KUBELET_REGISTRATIONS_KEPT];
}

static size_t oldest_kept(const struct kubelet *kubelet)
{
	size_t count = kubelet->registration_count;
	return count <= KUBELET_REGISTRATIONS_KEPT ? 0 : count - KUBELET_REGISTRATIONS_KEPT;
}

static struct registration *registration_new(struct kubelet *kubelet)
{
	struct registration **place = place_of(kubelet, kubelet->registration_count);
	struct registration *registration = memory_allocate(1, sizeof(*registration));
	if (*place != NULL) {
		registration_free(*place);
		clients_free(kubelet, false);
	}
	*place = registration;
	registration->kubelet = kubelet;
	registration->seen.index = kubelet->registration_count++;
	registration->seen.time_ms = clock_monotonic_ms();
	registration->seen.message = "";
	registration->seen.code = RPC_NO_STATUS;
	registration->seen.options_code = RPC_NO_STATUS;
	return registration;
}

void registrations_forget_user(struct kubelet *kubelet, const void *user)
{
	for (size_t i = oldest_kept(kubelet); i < kubelet->registration_count; i++) {
		struct registration *registration = *place_of(kubelet, i);
		if (registration->user == user)
			registration->done = NULL;
	}
}

void registrations_stop(struct kubelet *kubelet)
{
	for (size_t i = oldest_kept(kubelet); i < kubelet->registration_count; i++)
		registration_stop(*place_of(kubelet, i));
}

void registrations_free(struct kubelet *kubelet)
{
	for (size_t i = oldest_kept(kubelet); i < kubelet->registration_count; i++)
		registration_free(*place_of(kubelet, i));
}

/* An event of the attempt: with the socket while it is dialled, otherwise with the endpoint. */
static struct kubelet_event event_of(const struct registration *registration,
				     enum kubelet_event_type type)
{
	const struct kubelet_registration *seen = &registration->seen;
	struct kubelet_event event = kubelet_event_of(type);
	bool dialled = type == KUBELET_EVENT_CONNECTED || type == KUBELET_EVENT_DIAL_FAILED ||
		       type == KUBELET_EVENT_OPTIONS;
	event.resource = seen->resource;
	event.endpoint = dialled ? NULL : seen->endpoint;
	event.socket = dialled ? seen->socket : NULL;
	return event;
}

/* A message that ends within a field. */
static void answer_malformed(struct rpc_stream *stream)
{
	static const uint8_t nonsense[] = {0x0a, 0x7f, 0x01};
	const struct rpc_slice slice = {nonsense, sizeof(nonsense)};
	(void)rpc_stream_send(stream, slice, NULL);
	rpc_stream_finish(stream, RPC_OK, "%s", "");
}

/* ListAndWatch follows the answer, also one that a fault held back. */
static void send_answer(void *user)
{
	struct registration *registration = user;
	struct kubelet_registration *seen = &registration->seen;
	struct rpc_stream *stream = STEAL(registration->stream);
	struct error err = {0};

	timer_cancel(&registration->delay);
	registration->over = true;
	if (stream != NULL) {
		V1beta1__Empty empty = V1BETA1__EMPTY__INIT;
		rpc_stream_on_end(stream, NULL, NULL);
		if (seen->code == RPC_OK &&
		    fault_take(&registration->kubelet->faults, FAULT_REGISTER_MALFORMED) != NULL)
			answer_malformed(stream);
		else if (seen->code == RPC_OK)
			rpc_stream_reply(stream, &empty.base);
		else
			rpc_stream_finish(stream, seen->code, "%s", seen->message);
	}

	seen->answered_ms = clock_monotonic_ms();
	struct kubelet_event event = event_of(registration, KUBELET_EVENT_REGISTER_ANSWERED);
	event.code = seen->code;
	event.text = seen->message;
	event.duration_ms = (int64_t)(seen->answered_ms - seen->time_ms);
	kubelet_report(registration->kubelet, event);

	if (seen->code == RPC_OK && !seen->deduplicated && seen->plugin != NULL) {
		int rc = client_list_and_watch(seen->plugin, &err);
		/* Another one of the resource may have been disconnected while the answer was held
		 * back. */
		if (rc < 0 && rc != ERROR_UNAVAILABLE)
			kubelet_report_problem(registration->kubelet, &err);
		if (rc < 0)
			client_disconnect(seen->plugin);
	}
	/* The watcher reports it afterwards (server.go, connectClient). */
	if (registration->done != NULL)
		registration->done(seen, registration->user);
}

static void answer(struct registration *registration, int code, const char *message)
{
	struct kubelet *kubelet = registration->kubelet;
	if (registration->over)
		return;
	registration->seen.code = code;
	registration->seen.message = keep(registration, message);
	const struct fault_setting *delay = fault_take(&kubelet->faults, FAULT_REGISTER_DELAY);
	if (delay == NULL || timer_start(kubelet->loop, delay->delay_ms, 0, send_answer,
					 registration, &registration->delay, NULL) != 0)
		send_answer(registration);
}

static void connection_failed(struct registration *registration, const char *message)
{
	struct kubelet_plugin *plugin = registration->seen.plugin;
	client_deregister(plugin);
	/* 1.36 leaves the connection open; 1.37 closes it
	 * (TestConnect_PluginConnectedFailureClosesConnection). */
	if (registration->kubelet->options.profile == KUBELET_PROFILE_1_37)
		client_close_channel(plugin);
	answer(registration, RPC_UNKNOWN, message);
}

static void report_dial(const struct registration *registration, enum kubelet_event_type type,
			const char *reason)
{
	struct kubelet_event event = event_of(registration, type);
	event.text = reason;
	event.duration_ms = (int64_t)(clock_monotonic_ms() - registration->seen.time_ms);
	kubelet_report(registration->kubelet, event);
}

/* The caller is gone: its context is cancelled, and with it the dialling and
 * GetDevicePluginOptions (client.go, dial; manager.go, PluginConnected). */
static void on_caller_gone(void *user)
{
	struct registration *registration = user;
	struct kubelet_plugin *plugin = registration->seen.plugin;
	registration->stream = NULL;
	registration->seen.abandoned = true;
	kubelet_report(registration->kubelet,
		       event_of(registration, KUBELET_EVENT_REGISTER_ABANDONED));
	if (registration->options_call != NULL) {
		rpc_call_cancel(registration->options_call);
	} else if (registration->dialling) {
		registration->dialling = false;
		dial_free(STEAL(plugin->dial));
		report_dial(registration, KUBELET_EVENT_DIAL_FAILED, "the caller of Register left");
		connection_failed(registration, "failed to dial device plugin: context canceled");
	}
}

static struct kubelet_plugin_options options_of(const V1beta1__DevicePluginOptions *options)
{
	return (struct kubelet_plugin_options){options->pre_start_required != 0,
					       options->get_preferred_allocation_available != 0};
}

static void on_options(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct registration *registration = user;
	struct kubelet_registration *seen = &registration->seen;
	registration->options_call = NULL;
	seen->options_answered_ms = clock_monotonic_ms();
	seen->options_code = status->code;
	if (reply != NULL) {
		seen->options = options_of((const V1beta1__DevicePluginOptions *)(void *)reply);
		protobuf_c_message_free_unpacked(reply, NULL);
	}
	if (registration->over)
		return;

	struct kubelet_event event = event_of(registration, KUBELET_EVENT_OPTIONS);
	event.code = status->code;
	event.text = status->message;
	event.duration_ms = (int64_t)(seen->options_answered_ms - seen->options_asked_ms);
	event.options = status->code == RPC_OK ? &seen->options : NULL;
	kubelet_report(registration->kubelet, event);

	if (status->code == RPC_OK) {
		seen->plugin->has_options = true;
		seen->plugin->options = seen->options;
		resource_serve(registration->kubelet, seen->plugin);
		answer(registration, RPC_OK, "");
		return;
	}
	char *cause CLEANUP_FREE = go_status_text(status->code, status->message);
	char *text CLEANUP_FREE = text_format("failed to get device plugin options: %s", cause);
	connection_failed(registration, text);
}

static void on_second_options(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	(void)status;
	(void)user;
	if (reply != NULL)
		protobuf_c_message_free_unpacked(reply, NULL);
}

static void on_dialled(const struct dial_result *result, void *user)
{
	struct registration *registration = user;
	struct kubelet_registration *seen = &registration->seen;
	V1beta1__Empty request = V1BETA1__EMPTY__INIT;
	uint64_t timeout_ms = 0;
	struct error err = {0};
	registration->dialling = false;
	seen->dial_attempts = result->attempts;
	seen->plugin->channel = result->channel;
	if (registration->over) {
		client_close_channel(seen->plugin);
		return;
	}
	if (result->channel == NULL) {
		report_dial(registration, KUBELET_EVENT_DIAL_FAILED, result->reason);
		connection_failed(registration,
				  "failed to dial device plugin: context deadline exceeded");
		return;
	}
	seen->connected_ms = clock_monotonic_ms();
	report_dial(registration, KUBELET_EVENT_CONNECTED, NULL);

	/* With the deadline of the Register call and none of its own (manager.go, PluginConnected). */
	if (registration->stream != NULL) {
		uint64_t left_ms = rpc_stream_time_left_ms(registration->stream);
		timeout_ms = left_ms == UINT64_MAX ? 0 : left_ms + 1;
	}
	seen->options_asked_ms = clock_monotonic_ms();
	if (fault_take(&registration->kubelet->faults, FAULT_OPTIONS_TWICE) != NULL)
		(void)kubelet_call_start(seen->plugin, &kubelet_method_options, &request.base, 0,
					 on_second_options, NULL, NULL, NULL);
	if (kubelet_call_start(seen->plugin, &kubelet_method_options, &request.base, timeout_ms,
			       on_options, registration, &registration->options_call, &err) < 0)
		connection_failed(registration, err.text);
}

/* `socket` as the kubelet names it. */
static void connect_client(struct registration *registration, const char *socket)
{
	struct kubelet *kubelet = registration->kubelet;
	struct kubelet_registration *seen = &registration->seen;
	struct text refusal CLEANUP_TEXT = {0};
	struct error err = {0};
	char *path CLEANUP_FREE = dial_path(socket, &refusal);
	seen->socket = keep(registration, path == NULL ? socket : path);
	seen->socket_existed = file_exists(seen->socket);

	if (kubelet->options.profile == KUBELET_PROFILE_1_37)
		seen->plugin = client_connected(kubelet, seen->resource, socket);
	seen->deduplicated = seen->plugin != NULL;
	if (!seen->deduplicated)
		seen->plugin = client_new(kubelet, seen->resource, socket);
	seen->plugin->records++;
	if (seen->deduplicated) {
		answer(registration, RPC_OK, "");
		return;
	}
	if (path == NULL) {
		char *text CLEANUP_FREE =
			text_format("failed to dial device plugin: %s", text_string(&refusal));
		connection_failed(registration, text);
		return;
	}
	int rc = dial_start(kubelet->loop, seen->socket, NULL, kubelet->options.dial_timeout_ms,
			    on_dialled, registration, &seen->plugin->dial, &err);
	registration->dialling = rc == 0;
	if (rc < 0)
		answer(registration, RPC_UNKNOWN, err.text);
}

static void report_register(const struct registration *registration)
{
	const struct kubelet_registration *seen = &registration->seen;
	struct kubelet_event event = event_of(registration, KUBELET_EVENT_REGISTER);
	event.version = seen->version;
	event.options = seen->has_options ? &seen->sent_options : NULL;
	kubelet_report(registration->kubelet, event);
}

static void fill_from_request(struct registration *registration,
			      const V1beta1__RegisterRequest *request)
{
	struct kubelet_registration *seen = &registration->seen;
	seen->version = keep(registration, request->version);
	seen->endpoint = keep(registration, request->endpoint);
	seen->resource = keep(registration, request->resource_name);
	if (request->options == NULL)
		return;
	seen->has_options = true;
	seen->sent_options = options_of(request->options);
}

static void registration_begin(struct registration *registration)
{
	struct kubelet_registration *seen = &registration->seen;
	struct fault_state *faults = &registration->kubelet->faults;
	struct text refusal CLEANUP_TEXT = {0};
	report_register(registration);
	const struct fault_setting *status = fault_take(faults, FAULT_REGISTER_STATUS);
	if (status != NULL) {
		answer(registration, status->code, status->message);
		return;
	}
	if (fault_take(faults, FAULT_REGISTER_HANG) != NULL)
		return;

	/* Validation as in server.go, with its texts. */
	if (strcmp(seen->version, DEVICE_PLUGIN_VERSION) != 0) {
		text_add(&refusal, "requested API version ");
		go_quote(&refusal, seen->version);
		text_add(
			&refusal,
			" is not supported by kubelet. Supported version is [\"" DEVICE_PLUGIN_VERSION
			"\"]");
	} else if (resource_name_check(seen->resource, NULL) < 0) {
		text_add(&refusal, "the ResourceName ");
		go_quote(&refusal, seen->resource);
		text_add(&refusal, " is invalid");
	}
	if (refusal.size != 0) {
		answer(registration, RPC_UNKNOWN, text_string(&refusal));
		return;
	}

	/* filepath.Join: an absolute endpoint goes below the directory, ".." may leave it. */
	char *joined CLEANUP_FREE = path_join(registration->kubelet->plugin_dir, seen->endpoint);
	char *socket CLEANUP_FREE = path_normalize(joined);
	connect_client(registration, socket);
}

void registration_handle(struct rpc_stream *stream, struct rpc_slice bytes, void *user)
{
	struct registration *registration = registration_new(user);
	V1beta1__RegisterRequest empty = V1BETA1__REGISTER_REQUEST__INIT;
	ProtobufCMessage *request = NULL;
	registration->stream = stream;
	rpc_stream_on_end(stream, on_caller_gone, registration);
	if (message_unpack(&v1beta1__register_request__descriptor, bytes, &request) != NULL) {
		fill_from_request(registration, &empty);
		answer(registration, RPC_INTERNAL, "grpc: error unmarshalling request");
		return;
	}
	fill_from_request(registration, (const V1beta1__RegisterRequest *)(const void *)request);
	registration_begin(registration);
	protobuf_c_message_free_unpacked(request, NULL);
}

void registration_by_watcher(struct kubelet *kubelet, const char *resource, const char *endpoint,
			     const char *versions, registration_done *done, void *user)
{
	struct registration *registration = registration_new(kubelet);
	registration->done = done;
	registration->user = user;
	registration->seen.by_watcher = true;
	registration->seen.resource = keep(registration, resource);
	registration->seen.endpoint = keep(registration, endpoint);
	registration->seen.version = keep(registration, versions);
	report_register(registration);
	const struct fault_setting *status = fault_take(&kubelet->faults, FAULT_WATCHER_STATUS);
	if (status != NULL)
		answer(registration, status->code, status->message);
	else
		connect_client(registration, endpoint);
}

size_t kubelet_registration_count(const struct kubelet *kubelet)
{
	return kubelet->registration_count;
}

const struct kubelet_registration *kubelet_registration_at(const struct kubelet *kubelet,
							   size_t index)
{
	size_t oldest = oldest_kept(kubelet);
	if (index >= kubelet->registration_count)
		return NULL;
	if (index < oldest)
		index = oldest;
	return &kubelet->registrations[index % KUBELET_REGISTRATIONS_KEPT]->seen;
}
