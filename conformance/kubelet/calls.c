/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/clock.h"
#include "conformance/kubelet/internal.h"

#include <string.h>

/* A unary call that the loop is run for. */
struct waiting_call {
	const struct kubelet *kubelet; /* NULL: nothing interrupts it */
	struct kubelet_reply *out;
	uint64_t started_ns;
	struct error fault; /* of our own, that came with the answer */
	bool done;
};

static struct kubelet_reply no_reply(void)
{
	return (struct kubelet_reply){.code = RPC_NO_STATUS, .message = ""};
}

static void on_reply(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct waiting_call *call = user;
	struct kubelet_reply *out = call->out;
	call->done = true;
	out->duration_us = (clock_monotonic_ns() - call->started_ns) / 1000;
	out->duration_ms = out->duration_us / 1000;
	out->code = status->code;
	out->reply = reply;
	if (status->message[0] != '\0')
		out->text = strdup(status->message);
	if (out->text != NULL)
		out->message = out->text;
	else if (status->message[0] != '\0')
		(void)error_memory(&call->fault);
}

static bool is_done_or_interrupted(void *user)
{
	const struct waiting_call *call = user;
	return call->done || (call->kubelet != NULL && call->kubelet->interrupt != NULL);
}

static int call_wait(struct rpc_channel *channel, const struct own_call *call,
		     struct waiting_call *waiting, struct error *err)
{
	struct rpc_call *running = NULL;
	uv_loop_t *loop = rpc_channel_loop(channel);
	char *path CLEANUP_FREE = call->method[0] == '/'
					  ? strdup(call->method)
					  : text_format(DEVICE_PLUGIN_SERVICE "%s", call->method);
	if (path == NULL)
		return error_memory(err);
	waiting->started_ns = clock_monotonic_ns();
	int rc = rpc_unary(channel, path, call->request, call->reply_type, call->deadline_ms,
			   on_reply, waiting, &running, err);
	if (rc != 0)
		return rc;
	rc = loop_wait(loop, is_done_or_interrupted, waiting,
		       call->patience_ms == 0 ? UINT64_MAX : call->patience_ms, path, err);
	if (waiting->done && waiting->fault.code == 0)
		return 0;
	if (!waiting->done)
		rpc_call_cancel(running);
	kubelet_reply_free(waiting->out);
	if (waiting->fault.code != 0)
		return error_copy(err, &waiting->fault);
	if (rc != 0)
		return rc;
	return error_set(err, ERROR_CANCELLED, "%s: %s", path, waiting->kubelet->interrupt);
}

int own_call(const struct own_call *call, struct kubelet_reply *out, struct error *err)
{
	struct waiting_call waiting = {.kubelet = call->plugin->kubelet, .out = out};
	*out = no_reply();
	if (call->plugin->channel == NULL)
		return error_set(err, ERROR_UNAVAILABLE, "%s is disconnected",
				 call->plugin->socket);
	return call_wait(call->plugin->channel, call, &waiting, err);
}

int kubelet_call(struct kubelet_plugin *plugin, const char *method, const ProtobufCMessage *request,
		 const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms,
		 struct kubelet_reply *out, struct error *err)
{
	const struct own_call call = {plugin, method, request, reply_type, timeout_ms, 0};
	return own_call(&call, out, err);
}

int kubelet_call_on(struct rpc_channel *channel, const char *method,
		    const ProtobufCMessage *request, const ProtobufCMessageDescriptor *reply_type,
		    uint64_t timeout_ms, struct kubelet_reply *out, struct error *err)
{
	const struct own_call call = {NULL, method, request, reply_type, timeout_ms, 0};
	struct waiting_call waiting = {.out = out};
	*out = no_reply();
	return call_wait(channel, &call, &waiting, err);
}

void kubelet_reply_free(struct kubelet_reply *reply)
{
	if (reply->reply != NULL)
		protobuf_c_message_free_unpacked(reply->reply, NULL);
	free(reply->text);
	*reply = no_reply();
}

/* protobuf-c wants the strings writable; nothing writes to them. Caller frees the array. */
static char **borrow_strings(const char *const *strings, size_t count)
{
	char **array = calloc(count + 1, sizeof(*array));
	if (array != NULL && count > 0)
		memcpy(array, strings, count * sizeof(*array));
	return array;
}

int kubelet_call_allocate(struct kubelet_plugin *plugin, const char *const *ids, size_t count,
			  uint64_t timeout_ms, struct kubelet_reply *out, struct error *err)
{
	char **array CLEANUP_FREE = borrow_strings(ids, count);
	if (array == NULL)
		return error_memory(err);
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&container};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	container.devices_ids = array;
	container.n_devices_ids = count;
	request.container_requests = containers;
	request.n_container_requests = 1;
	return kubelet_call(plugin, "Allocate", &request.base,
			    &v1beta1__allocate_response__descriptor, timeout_ms, out, err);
}

int kubelet_call_preferred(struct kubelet_plugin *plugin, const char *const *available,
			   size_t available_count, const char *const *must_include,
			   size_t must_include_count, int32_t size, uint64_t timeout_ms,
			   struct kubelet_reply *out, struct error *err)
{
	char **offered CLEANUP_FREE = borrow_strings(available, available_count);
	char **needed CLEANUP_FREE = borrow_strings(must_include, must_include_count);
	if (offered == NULL || needed == NULL)
		return error_memory(err);
	V1beta1__ContainerPreferredAllocationRequest container =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__ContainerPreferredAllocationRequest *containers[] = {&container};
	V1beta1__PreferredAllocationRequest request = V1BETA1__PREFERRED_ALLOCATION_REQUEST__INIT;
	container.available_deviceids = offered;
	container.n_available_deviceids = available_count;
	container.must_include_deviceids = needed;
	container.n_must_include_deviceids = must_include_count;
	container.allocation_size = size;
	request.container_requests = containers;
	request.n_container_requests = 1;
	return kubelet_call(plugin, "GetPreferredAllocation", &request.base,
			    &v1beta1__preferred_allocation_response__descriptor, timeout_ms, out,
			    err);
}

int kubelet_call_pre_start(struct kubelet_plugin *plugin, const char *const *ids, size_t count,
			   uint64_t timeout_ms, struct kubelet_reply *out, struct error *err)
{
	char **array CLEANUP_FREE = borrow_strings(ids, count);
	if (array == NULL)
		return error_memory(err);
	V1beta1__PreStartContainerRequest request = V1BETA1__PRE_START_CONTAINER_REQUEST__INIT;
	request.devices_ids = array;
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
