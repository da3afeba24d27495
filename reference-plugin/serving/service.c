/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/service.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "reference-plugin/answer/allocate.h"
#include "reference-plugin/inventory/device_list.h"
#include "reference-plugin/serving/service_internal.h"
#include "rpc/server.h"

#include <string.h>

enum { CLOSE_GRACE_MS = 500 };

static int status_of(int code)
{
	switch (code) {
	case ERROR_ARGUMENT:
		return RPC_INVALID_ARGUMENT;
	case ERROR_NOT_FOUND:
		return RPC_NOT_FOUND;
	case ERROR_UNAVAILABLE:
		return RPC_UNAVAILABLE;
	case ERROR_IO:
	case ERROR_UNSUPPORTED:
		return RPC_FAILED_PRECONDITION;
	case ERROR_MEMORY:
	case ERROR_LIMIT:
		return RPC_RESOURCE_EXHAUSTED;
	default:
		return RPC_INTERNAL;
	}
}

static void handle_options(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	V1beta1__DevicePluginOptions reply = V1BETA1__DEVICE_PLUGIN_OPTIONS__INIT;
	ProtobufCMessage *empty = rpc_stream_unpack(stream, request, &v1beta1__empty__descriptor);

	(void)user;
	if (empty == NULL)
		return;
	protobuf_c_message_free_unpacked(empty, NULL);
	reply.pre_start_required = SERVICE_PRE_START_REQUIRED;
	reply.get_preferred_allocation_available = SERVICE_PREFERRED_ALLOCATION_AVAILABLE;
	rpc_stream_reply(stream, &reply.base);
}

static void handle_list_and_watch(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	struct service *service = user;
	ProtobufCMessage *empty = rpc_stream_unpack(stream, request, &v1beta1__empty__descriptor);
	struct error err = {0};

	if (empty == NULL)
		return;
	protobuf_c_message_free_unpacked(empty, NULL);
	if (service->version == 0 && service_refresh(service, &err) < 0)
		rpc_stream_finish(stream, status_of(err.code), "%s", err.text);
	else
		watcher_open(service, stream);
}

/* An answer that is not all that was asked for is given; the log says what is missing. */
static void tell_warnings(const struct allocation *allocation)
{
	for (size_t i = 0; i < allocation->message.n_container_responses; i++) {
		const struct text_list *warnings = &allocation->answers[i].warnings;

		for (size_t j = 0; j < warnings->count; j++)
			log_warning("Allocate: %s", warnings->items[j]);
	}
}

static void handle_allocate(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	const struct service *service = user;
	const struct service_options *options = &service->options;
	struct allocation allocation CLEANUP(allocation_free) = {0};
	struct error err = {0};
	ProtobufCMessage *message =
		rpc_stream_unpack(stream, request, &v1beta1__allocate_request__descriptor);

	if (message == NULL)
		return;
	if (allocate(options->inventory(options->user), options->resource, &options->rules,
		     (const V1beta1__AllocateRequest *)message, &allocation, &err) == 0)
		rpc_stream_reply(stream, &allocation.message.base);
	else
		rpc_stream_finish(stream, status_of(err.code), "%s", err.text);
	protobuf_c_message_free_unpacked(message, NULL);
	tell_warnings(&allocation);
	if (err.code == ERROR_IO)
		options->on_suspicion(options->user);
}

static void handle_preferred(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	const struct service *service = user;
	const struct service_options *options = &service->options;
	struct preference preference CLEANUP(preference_free) = {0};
	struct error err = {0};
	ProtobufCMessage *message = rpc_stream_unpack(
		stream, request, &v1beta1__preferred_allocation_request__descriptor);

	if (message == NULL)
		return;
	if (prefer(options->inventory(options->user), options->resource, options->policy,
		   (const V1beta1__PreferredAllocationRequest *)message, &preference, &err) == 0)
		rpc_stream_reply(stream, &preference.message.base);
	else
		rpc_stream_finish(stream, status_of(err.code), "%s", err.text);
	protobuf_c_message_free_unpacked(message, NULL);
}

static int add_methods(struct service *service, struct error *err)
{
	static const struct {
		const char *path;
		rpc_handler *handler;
	} methods[] = {
		{"/v1beta1.DevicePlugin/GetDevicePluginOptions", handle_options},
		{"/v1beta1.DevicePlugin/ListAndWatch", handle_list_and_watch},
		{"/v1beta1.DevicePlugin/GetPreferredAllocation", handle_preferred},
		{"/v1beta1.DevicePlugin/Allocate", handle_allocate},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(methods); i++)
		rc = rpc_server_add(service->server, methods[i].path, methods[i].handler, service,
				    err);
	return rc;
}

int service_open(const struct service_options *options, struct service **out, struct error *err)
{
	struct service *service = calloc(1, sizeof(*service));
	int rc = 0;

	if (service == NULL)
		return error_memory(err);
	service->options = *options;
	rc = rpc_server_new(options->loop, NULL, &service->server, err);
	if (rc == 0)
		rc = add_methods(service, err);
	if (rc == 0)
		rc = rpc_server_listen(service->server, options->address, err);
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
	const struct service_options *options = &service->options;
	uint8_t *list CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = device_list_pack(options->inventory(options->user), options->resource, &list,
				  &size, err);

	if (rc < 0)
		return rc;
	if (service->version > 0 && size == service->list_size &&
	    memcmp(list, service->list, size) == 0)
		return 0;
	free(service->list);
	service->list = STEAL(list);
	service->list_size = size;
	service->version++;
	watchers_send(service);
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

bool service_is_watched(const struct service *service)
{
	return service->watchers != NULL;
}

void service_close(struct service *service, const char *why, void (*closed)(void *user), void *user)
{
	service->closed = closed;
	service->closed_user = user;
	watchers_finish(service, why);
	rpc_server_shutdown(service->server, CLOSE_GRACE_MS, on_server_closed, service);
}
