/* SPDX-License-Identifier: MIT */
#include "reference-plugin/tests/registrar.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "rpc/client.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

#include <stdio.h>
#include <string.h>

enum { DIAL_TIMEOUT_MS = 300000 };

/* A Register call whose endpoint is being asked. */
struct dial {
	struct registrar *registrar;
	struct rpc_stream *stream; /* NULL once the caller is gone */
	struct rpc_channel *channel;
	size_t entry;
};

static void on_caller_gone(void *user)
{
	struct dial *dial = user;
	dial->stream = NULL;
}

static void on_options(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct dial *dial = user;
	struct registrar_entry *entry = &dial->registrar->entries[dial->entry];
	const V1beta1__DevicePluginOptions *options = (const V1beta1__DevicePluginOptions *)reply;
	V1beta1__Empty empty = V1BETA1__EMPTY__INIT;
	if (reply != NULL) {
		entry->options_agree = options->get_preferred_allocation_available ==
					       entry->preferred_allocation &&
				       options->pre_start_required == entry->pre_start;
		protobuf_c_message_free_unpacked(reply, NULL);
	}
	if (dial->stream != NULL) {
		rpc_stream_on_end(dial->stream, NULL, NULL);
		entry->accepted = status->code == RPC_OK;
		if (entry->accepted)
			rpc_stream_reply(dial->stream, &empty.base);
		else
			rpc_stream_finish(dial->stream, RPC_UNKNOWN, "options: %s",
					  status->message);
	}
	rpc_channel_close(dial->channel);
	free(dial);
}

static int dial_back(struct dial *dial, struct error *err)
{
	const struct registrar *registrar = dial->registrar;
	V1beta1__Empty empty = V1BETA1__EMPTY__INIT;
	char *address CLEANUP_FREE = text_format("unix:%s/%s", registrar->directory,
						 registrar->entries[dial->entry].endpoint);
	int rc = rpc_channel_open(registrar->loop, address, NULL, &dial->channel, err);
	if (rc < 0)
		return rc;
	return rpc_unary(dial->channel, "/v1beta1.DevicePlugin/GetDevicePluginOptions", &empty.base,
			 &v1beta1__device_plugin_options__descriptor, DIAL_TIMEOUT_MS, on_options,
			 dial, NULL, err);
}

static void record(struct registrar *registrar, const V1beta1__RegisterRequest *request)
{
	struct registrar_entry *entry = &registrar->entries[registrar->count++];
	*entry = (struct registrar_entry){0};
	(void)snprintf(entry->version, sizeof(entry->version), "%s", request->version);
	(void)snprintf(entry->endpoint, sizeof(entry->endpoint), "%s", request->endpoint);
	(void)snprintf(entry->resource, sizeof(entry->resource), "%s", request->resource_name);
	if (request->options != NULL) {
		entry->preferred_allocation = request->options->get_preferred_allocation_available;
		entry->pre_start = request->options->pre_start_required;
	}
}

static void handle_register(struct rpc_stream *stream, struct rpc_slice bytes, void *user)
{
	struct registrar *registrar = user;
	struct error err = {0};
	struct dial *dial = NULL;
	ProtobufCMessage *request =
		rpc_stream_unpack(stream, bytes, &v1beta1__register_request__descriptor);
	registrar->attempts++;
	if (request == NULL)
		return;
	if (registrar->mode == REGISTRAR_REFUSE)
		rpc_stream_finish(stream, RPC_UNKNOWN, "requested API version is not supported");
	if ((registrar->mode == REGISTRAR_ACCEPT || registrar->mode == REGISTRAR_LATE) &&
	    registrar->count < REGISTRAR_ENTRIES_MAX) {
		record(registrar, (const V1beta1__RegisterRequest *)request);
		registrar->entries[registrar->count - 1].accepted =
			registrar->mode == REGISTRAR_LATE;
		dial = registrar->mode == REGISTRAR_ACCEPT ? calloc(1, sizeof(*dial)) : NULL;
	}
	protobuf_c_message_free_unpacked(request, NULL);
	if (dial == NULL)
		return;
	*dial = (struct dial){registrar, stream, NULL, registrar->count - 1};
	rpc_stream_on_end(stream, on_caller_gone, dial);
	if (dial_back(dial, &err) == 0)
		return;
	rpc_stream_on_end(stream, NULL, NULL);
	rpc_stream_finish(stream, RPC_UNKNOWN, "%s", err.text);
	rpc_channel_close(dial->channel);
	free(dial);
}

int registrar_open(struct registrar *registrar, struct error *err)
{
	char *address CLEANUP_FREE = text_format("unix:%s/kubelet.sock", registrar->directory);
	int rc = rpc_server_new(registrar->loop, NULL, &registrar->server, err);
	if (rc == 0)
		rc = rpc_server_add(registrar->server, "/v1beta1.Registration/Register",
				    handle_register, registrar, err);
	if (rc == 0)
		rc = rpc_server_listen(registrar->server, address, err);
	return rc;
}

void registrar_close(struct registrar *registrar)
{
	rpc_server_close(STEAL(registrar->server));
}

void registrar_remove_sockets(const struct registrar *registrar)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	(void)file_list(registrar->directory, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(registrar->directory, names.items[i]);
		uv_fs_t request;
		if (text_ends_with(names.items[i], ".sock"))
			(void)uv_fs_unlink(NULL, &request, path, NULL);
	}
}

const struct registrar_entry *registrar_find(const struct registrar *registrar,
					     const char *resource)
{
	for (size_t i = registrar->count; i > 0; i--) {
		if (registrar->entries[i - 1].accepted &&
		    strcmp(registrar->entries[i - 1].resource, resource) == 0)
			return &registrar->entries[i - 1];
	}
	return NULL;
}

size_t registrar_accepted(const struct registrar *registrar, const char *resource)
{
	size_t count = 0;
	for (size_t i = 0; i < registrar->count; i++) {
		if (registrar->entries[i].accepted &&
		    strcmp(registrar->entries[i].resource, resource) == 0)
			count++;
	}
	return count;
}
