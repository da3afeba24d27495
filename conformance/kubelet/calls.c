/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "conformance/kubelet/endpoints.h"
#include "rpc/message.h"

#include <string.h>

static bool is_interrupted(void *user)
{
	const struct kubelet *kubelet = user;
	return kubelet->interrupt != NULL;
}

/* `kubelet` NULL: nothing interrupts it. */
static int call_wait(struct rpc_channel *channel, struct kubelet *kubelet, const char *method,
		     struct rpc_unary_call *call, struct kubelet_reply *out, struct error *err)
{
	struct rpc_answer answer = {0};
	char *path CLEANUP_FREE =
		method[0] == '/' ? strdup(method) : text_format(DEVICE_PLUGIN_SERVICE "%s", method);
	*out = (struct kubelet_reply){.code = RPC_NO_STATUS};
	if (path == NULL)
		return error_memory(err);
	call->method = path;
	call->stop = kubelet == NULL ? NULL : is_interrupted;
	call->user = kubelet;
	int rc = rpc_unary_answer(channel, call, &answer, err);
	if (rc == ERROR_CANCELLED)
		return error_set(err, rc, "%s: %s", path, kubelet->interrupt);
	if (rc != 0)
		return rc;
	*out = (struct kubelet_reply){.code = answer.code,
				      .message = answer.message,
				      .duration_ms = answer.duration_ns / 1000000,
				      .reply = answer.reply};
	return 0;
}

int own_call(struct kubelet_plugin *plugin, const char *method, const ProtobufCMessage *request,
	     const ProtobufCMessageDescriptor *reply_type, uint64_t deadline_ms,
	     uint64_t patience_ms, struct kubelet_reply *out, struct error *err)
{
	struct rpc_unary_call call = {.request = request,
				      .reply_type = reply_type,
				      .timeout_ms = deadline_ms,
				      .patience_ms = patience_ms};
	*out = (struct kubelet_reply){.code = RPC_NO_STATUS};
	if (plugin->channel == NULL)
		return error_set(err, ERROR_UNAVAILABLE, "%s is disconnected", plugin->socket);
	return call_wait(plugin->channel, plugin->kubelet, method, &call, out, err);
}

int kubelet_call(struct kubelet_plugin *plugin, const char *method, const ProtobufCMessage *request,
		 const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms,
		 struct kubelet_reply *out, struct error *err)
{
	return own_call(plugin, method, request, reply_type, timeout_ms, 0, out, err);
}

int kubelet_call_on(struct rpc_channel *channel, const char *method,
		    const ProtobufCMessage *request, const ProtobufCMessageDescriptor *reply_type,
		    uint64_t timeout_ms, struct kubelet_reply *out, struct error *err)
{
	struct rpc_unary_call call = {
		.request = request, .reply_type = reply_type, .timeout_ms = timeout_ms};
	return call_wait(channel, NULL, method, &call, out, err);
}

void kubelet_reply_free(struct kubelet_reply *reply)
{
	if (reply->reply != NULL)
		protobuf_c_message_free_unpacked(reply->reply, NULL);
	free(reply->message);
	*reply = (struct kubelet_reply){.code = RPC_NO_STATUS};
}

void kubelet_allocate_request_add(struct kubelet_allocate_request *request, const char *const *ids,
				  size_t count)
{
	V1beta1__AllocateRequest *all = &request->request;
	if (all->n_container_requests == 0)
		v1beta1__allocate_request__init(all);
	V1beta1__ContainerAllocateRequest *container =
		&request->containers[all->n_container_requests];
	v1beta1__container_allocate_request__init(container);
	container->devices_ids = message_strings(ids);
	container->n_devices_ids = count;
	request->pointers[all->n_container_requests++] = container;
	all->container_requests = request->pointers;
}

int kubelet_call_allocate(struct kubelet_plugin *plugin, const char *const *ids, size_t count,
			  uint64_t timeout_ms, struct kubelet_reply *out, struct error *err)
{
	struct kubelet_allocate_request request = {0};
	kubelet_allocate_request_add(&request, ids, count);
	return kubelet_call(plugin, "Allocate", &request.request.base,
			    &v1beta1__allocate_response__descriptor, timeout_ms, out, err);
}

int kubelet_call_pre_start(struct kubelet_plugin *plugin, const char *const *ids, size_t count,
			   uint64_t timeout_ms, struct kubelet_reply *out, struct error *err)
{
	V1beta1__PreStartContainerRequest request = V1BETA1__PRE_START_CONTAINER_REQUEST__INIT;
	request.devices_ids = message_strings(ids);
	request.n_devices_ids = count;
	return kubelet_call(plugin, "PreStartContainer", &request.base,
			    &v1beta1__pre_start_container_response__descriptor, timeout_ms, out,
			    err);
}

int kubelet_call_options(struct kubelet_plugin *plugin, uint64_t timeout_ms,
			 struct kubelet_reply *out, struct error *err)
{
	V1beta1__Empty request = V1BETA1__EMPTY__INIT;
	return kubelet_call(plugin, "GetDevicePluginOptions", &request.base,
			    &v1beta1__device_plugin_options__descriptor, timeout_ms, out, err);
}

int kubelet_dial(uv_loop_t *loop, const char *socket, uint64_t timeout_ms, struct rpc_channel **out,
		 struct error *err)
{
	char *address CLEANUP_FREE = text_format("unix:%s", socket);
	struct rpc_channel *channel = NULL;
	if (address == NULL)
		return error_memory(err);
	int rc = rpc_channel_open(loop, address, NULL, &channel, err);
	if (rc != 0)
		return rc;
	rc = rpc_channel_connect_wait(channel, timeout_ms, err);
	if (rc != 0) {
		rpc_channel_close(channel);
		return rc;
	}
	*out = channel;
	return 0;
}
