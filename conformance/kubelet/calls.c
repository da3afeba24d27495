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

int own_call(struct kubelet_plugin *plugin, const char *method, const ProtobufCMessage *request,
	     const ProtobufCMessageDescriptor *reply_type, uint64_t deadline_ms,
	     uint64_t patience_ms, struct rpc_answer *out, struct error *err)
{
	const struct rpc_unary_call call = {.method = method,
					    .request = request,
					    .reply_type = reply_type,
					    .timeout_ms = deadline_ms,
					    .patience_ms = patience_ms,
					    .stop = is_interrupted,
					    .user = plugin->kubelet};
	const struct kubelet *kubelet =
		plugin->kubelet; /* which the call may outlive, unlike the plugin */
	*out = (struct rpc_answer){.code = RPC_NO_STATUS};
	int rc = kubelet_plugin_expect_connected(plugin, err);
	if (rc < 0)
		return rc;
	rc = rpc_unary_answer(plugin->channel, &call, out, err);
	if (rc == ERROR_CANCELLED)
		return error_set(err, rc, "%s: %s", method, kubelet->interrupt);
	return rc;
}

int kubelet_call(struct kubelet_plugin *plugin, const char *method, const ProtobufCMessage *request,
		 const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms,
		 struct rpc_answer *out, struct error *err)
{
	return own_call(plugin, method, request, reply_type, timeout_ms, 0, out, err);
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

void kubelet_preferred_request_init(struct kubelet_preferred_request *request,
				    const char *const *available, size_t count, int32_t size)
{
	v1beta1__preferred_allocation_request__init(&request->request);
	v1beta1__container_preferred_allocation_request__init(&request->container);
	request->container.available_deviceids = message_strings(available);
	request->container.n_available_deviceids = count;
	request->container.allocation_size = size;
	request->pointer = &request->container;
	request->request.container_requests = &request->pointer;
	request->request.n_container_requests = 1;
}

int kubelet_call_pre_start(struct kubelet_plugin *plugin, const char *const *ids, size_t count,
			   uint64_t timeout_ms, struct rpc_answer *out, struct error *err)
{
	V1beta1__PreStartContainerRequest request = V1BETA1__PRE_START_CONTAINER_REQUEST__INIT;
	request.devices_ids = message_strings(ids);
	request.n_devices_ids = count;
	return kubelet_call(plugin, DEVICE_PLUGIN_SERVICE "PreStartContainer", &request.base,
			    &v1beta1__pre_start_container_response__descriptor, timeout_ms, out,
			    err);
}

int kubelet_call_options(struct kubelet_plugin *plugin, uint64_t timeout_ms, struct rpc_answer *out,
			 struct error *err)
{
	V1beta1__Empty request = V1BETA1__EMPTY__INIT;
	return kubelet_call(plugin, DEVICE_PLUGIN_SERVICE "GetDevicePluginOptions", &request.base,
			    &v1beta1__device_plugin_options__descriptor, timeout_ms, out, err);
}
