/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/service.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "reference-plugin/answer/calls.h"
#include "rpc/server.h"

#include <string.h>

enum { CLOSE_GRACE_MS = 500 };

struct service {
	struct serving serving;
	void (*on_unwatched)(uint64_t watched_ms, void *user);
	void *user;
	struct rpc_server *server;
	uint8_t *list; /* packed ListAndWatchResponse */
	size_t list_size;
	uint64_t version; /* of the list; 0: none yet */
	struct watcher *watchers;
	struct watcher *kubelet;   /* the kubelet's watcher; NULL: it does not watch */
	bool registering;	   /* the next one is the kubelet's */
	uint64_t watched_since_ms; /* since when the kubelet watches */
	void (*closed)(void *user);
	void *closed_user;
};

/* One open ListAndWatch stream. */
struct watcher {
	struct service *service;
	struct rpc_stream *stream;
	uint64_t sent; /* version of the last list that was queued */
	struct watcher *next;
};

static void watcher_send(struct watcher *watcher)
{
	const struct service *service = watcher->service;
	struct rpc_slice list = {service->list, service->list_size};
	struct error err = {0};
	if (watcher->sent == service->version)
		return;
	int rc = rpc_stream_send(watcher->stream, list, &err);
	if (rc == 0)
		watcher->sent = service->version;
	/* ERROR_BUSY: on_drain tries again. ERROR_CANCELLED: on_end follows. */
	else if (rc != ERROR_BUSY && rc != ERROR_CANCELLED)
		rpc_stream_finish(watcher->stream, RPC_RESOURCE_EXHAUSTED, "%s", err.text);
}

static void on_drain(struct rpc_stream *stream, void *user)
{
	(void)stream;
	watcher_send(user);
}

static void on_end(void *user)
{
	struct watcher *watcher = user;
	struct service *service = watcher->service;
	struct watcher **place = &service->watchers;
	while (*place != watcher)
		place = &(*place)->next;
	*place = watcher->next;
	free(watcher);
	if (service->kubelet != watcher)
		return;
	service->kubelet = NULL;
	if (service->closed == NULL)
		service->on_unwatched(uv_now(service->serving.loop) - service->watched_since_ms,
				      service->user);
}

static int status_of(int code)
{
	static const int statuses[][2] = {
		{ERROR_ARGUMENT, RPC_INVALID_ARGUMENT},
		{ERROR_NOT_FOUND, RPC_NOT_FOUND},
		{ERROR_UNAVAILABLE, RPC_UNAVAILABLE},
		{ERROR_IO, RPC_FAILED_PRECONDITION},
		{ERROR_UNSUPPORTED, RPC_FAILED_PRECONDITION},
		{ERROR_MEMORY, RPC_RESOURCE_EXHAUSTED},
		{ERROR_LIMIT, RPC_RESOURCE_EXHAUSTED},
	};
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		if (statuses[i][0] == code)
			return statuses[i][1];
	}
	return RPC_INTERNAL;
}

V1beta1__DevicePluginOptions service_plugin_options(void)
{
	V1beta1__DevicePluginOptions options = V1BETA1__DEVICE_PLUGIN_OPTIONS__INIT;
	options.get_preferred_allocation_available = 1;
	return options;
}

static bool take_empty(struct rpc_stream *stream, struct rpc_slice request)
{
	ProtobufCMessage *empty = rpc_stream_unpack(stream, request, &v1beta1__empty__descriptor);
	protobuf_c_message_free_unpacked(empty, NULL);
	return empty != NULL;
}

static void handle_options(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	V1beta1__DevicePluginOptions reply = service_plugin_options();
	(void)user;
	if (take_empty(stream, request))
		rpc_stream_reply(stream, &reply.base);
}

static void handle_list_and_watch(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct service *service = user;
	struct error err = {0};
	if (!take_empty(stream, request))
		return;
	if (service->version == 0 && service_refresh(service, &err) < 0) {
		rpc_stream_finish(stream, status_of(err.code), "%s", err.text);
		return;
	}

	struct watcher *watcher = calloc(1, sizeof(*watcher));
	if (watcher == NULL) {
		rpc_stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "out of memory");
		return;
	}
	*watcher =
		(struct watcher){.service = service, .stream = stream, .next = service->watchers};
	if (service->kubelet == NULL || service->registering) {
		service->kubelet = watcher;
		service->registering = false;
		service->watched_since_ms = uv_now(service->serving.loop);
	}
	service->watchers = watcher;
	rpc_stream_on_end(stream, on_end, watcher);
	rpc_stream_on_drain(stream, on_drain, watcher);
	watcher_send(watcher);
}

static void answer_call(struct rpc_stream *stream, const ProtobufCMessage *reply,
			const struct error *err)
{
	if (err->code == 0)
		rpc_stream_reply(stream, reply);
	else
		rpc_stream_finish(stream, status_of(err->code), "%s", err->text);
}

static void handle_allocate(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	const struct serving *serving = &((const struct service *)user)->serving;
	const struct config *config = serving->config;
	const struct answer_rules rules = {
		.allocation = (enum answer_allocation)config->allocation,
		.allow_several = config->several_devices == CONFIG_SEVERAL_ALLOW,
		.skip_runtime_mounts = config->skip_runtime_mounts,
		.cdi = config->delivery == CONFIG_DELIVERY_CDI,
		.additional = &config->additional_mounts,
	};
	struct allocation allocation CLEANUP(allocation_free) = {0};
	struct error err = {0};
	ProtobufCMessage *message =
		rpc_stream_unpack(stream, request, &v1beta1__allocate_request__descriptor);
	if (message == NULL)
		return;
	(void)allocate(scanner_inventory(serving->scanner), serving->resource, &rules,
		       (const V1beta1__AllocateRequest *)message, &allocation, &err);
	answer_call(stream, &allocation.message.base, &err);
	protobuf_c_message_free_unpacked(message, NULL);
	/* A container that lacks something is still answered; the log lists what is missing. */
	for (size_t i = 0; i < allocation.message.n_container_responses; i++) {
		const struct answer *answer = &allocation.answers[i];
		for (size_t k = 0; k < answer->warnings.count; k++)
			log_warning("Allocate: %s", answer->warnings.items[k]);
	}
	if (err.code == 0)
		serving->counts->allocations++;
	else
		metrics_count_error(serving->counts, &serving->counts->allocation_errors);
	/* A file or device node that discovery found is gone. */
	if (err.code == ERROR_IO)
		scanner_scan_soon(serving->scanner);
}

static void handle_preferred(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	const struct serving *serving = &((const struct service *)user)->serving;
	V1beta1__PreferredAllocationResponse *response = NULL;
	struct error err = {0};
	ProtobufCMessage *message = rpc_stream_unpack(
		stream, request, &v1beta1__preferred_allocation_request__descriptor);
	if (message == NULL)
		return;
	(void)prefer(scanner_inventory(serving->scanner), serving->resource,
		     (enum prefer_policy)serving->config->preferred_allocation,
		     (const V1beta1__PreferredAllocationRequest *)message, &response, &err);
	answer_call(stream, response != NULL ? &response->base : NULL, &err);
	v1beta1__preferred_allocation_response__free_unpacked(response, NULL);
	protobuf_c_message_free_unpacked(message, NULL);
}

static const struct {
	const char *path;
	rpc_handler *handler;
} methods[] = {
	{"/v1beta1.DevicePlugin/GetDevicePluginOptions", handle_options},
	{"/v1beta1.DevicePlugin/ListAndWatch", handle_list_and_watch},
	{"/v1beta1.DevicePlugin/GetPreferredAllocation", handle_preferred},
	{"/v1beta1.DevicePlugin/Allocate", handle_allocate},
};

int service_open(const struct serving *serving, const char *address,
		 void (*on_unwatched)(uint64_t watched_ms, void *user), void *user,
		 struct service **out, struct error *err)
{
	struct service *service = calloc(1, sizeof(*service));
	if (service == NULL)
		return error_memory(err);
	service->serving = *serving;
	service->on_unwatched = on_unwatched;
	service->user = user;
	int rc = rpc_server_new(serving->loop, NULL, &service->server, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(methods); i++)
		rc = rpc_server_add(service->server, methods[i].path, methods[i].handler, service,
				    err);
	if (rc == 0)
		rc = rpc_server_listen(service->server, address, err);
	if (rc < 0) {
		rpc_server_close(service->server);
		free(service);
		return rc;
	}
	*out = service;
	return 0;
}

int service_refresh(struct service *service, struct error *err)
{
	struct watcher *next = NULL;
	uint8_t *list CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = device_list_pack(scanner_inventory(service->serving.scanner),
				  service->serving.resource, &list, &size, err);
	if (rc < 0)
		return rc;
	if (service->version > 0 && size == service->list_size &&
	    memcmp(list, service->list, size) == 0)
		return 0;
	free(service->list);
	service->list = STEAL(list);
	service->list_size = size;
	service->version++;
	for (struct watcher *watcher = service->watchers; watcher != NULL; watcher = next) {
		next = watcher->next;
		watcher_send(watcher);
	}
	return 0;
}

static void on_server_closed(void *user)
{
	struct service *service = user;
	void (*closed)(void *user) = service->closed;
	void *closed_user = service->closed_user;
	free(service->list);
	free(service);
	closed(closed_user);
}

size_t service_streams(const struct service *service)
{
	size_t count = 0;
	for (const struct watcher *watcher = service->watchers; watcher != NULL;
	     watcher = watcher->next)
		count++;
	return count;
}

bool service_is_watched(const struct service *service)
{
	return service->kubelet != NULL;
}

void service_registers(struct service *service)
{
	service->registering = true;
}

bool service_is_watched_anew(const struct service *service)
{
	return service->kubelet != NULL && !service->registering;
}

void service_registered(struct service *service)
{
	if (service->registering && service->kubelet == NULL)
		service->kubelet = service->watchers;
	service->registering = false;
}

void service_close(struct service *service, const char *why, void (*closed)(void *user), void *user)
{
	struct watcher *next = NULL;
	service->closed = closed;
	service->closed_user = user;
	for (struct watcher *watcher = service->watchers; watcher != NULL; watcher = next) {
		next = watcher->next;
		rpc_stream_finish(watcher->stream, RPC_UNAVAILABLE, "%s", why);
	}
	rpc_server_shutdown(service->server, CLOSE_GRACE_MS, on_server_closed, service);
}
