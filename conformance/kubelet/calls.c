/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/endpoints.h"
#include "rpc/message.h"

#include <string.h>

const struct kubelet_method
	kubelet_method_options = {DEVICE_PLUGIN_SERVICE "GetDevicePluginOptions",
				  &v1beta1__device_plugin_options__descriptor},
	kubelet_method_allocate = {DEVICE_PLUGIN_SERVICE "Allocate",
				   &v1beta1__allocate_response__descriptor},
	kubelet_method_prefer = {DEVICE_PLUGIN_SERVICE "GetPreferredAllocation",
				 &v1beta1__preferred_allocation_response__descriptor},
	kubelet_method_pre_start = {DEVICE_PLUGIN_SERVICE "PreStartContainer",
				    &v1beta1__pre_start_container_response__descriptor};

static bool is_interrupted(void *user)
{
	const struct kubelet *kubelet = user;
	return kubelet->interrupt != NULL;
}

int own_call(struct kubelet_plugin *plugin, const struct kubelet_method *method,
	     const ProtobufCMessage *request, uint64_t deadline_ms, uint64_t patience_ms,
	     struct rpc_answer *out, struct error *err)
{
	const struct rpc_unary_call call = {.method = method->path,
					    .request = request,
					    .reply_type = method->reply,
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
		return error_set(err, rc, "%s: %s", method->path, kubelet->interrupt);
	return rc;
}

int kubelet_call(struct kubelet_plugin *plugin, const struct kubelet_method *method,
		 const ProtobufCMessage *request, uint64_t timeout_ms, struct rpc_answer *out,
		 struct error *err)
{
	return own_call(plugin, method, request, timeout_ms, 0, out, err);
}

int kubelet_call_start(struct kubelet_plugin *plugin, const struct kubelet_method *method,
		       const ProtobufCMessage *request, uint64_t timeout_ms, rpc_reply_fn *done,
		       void *user, struct rpc_call **out, struct error *err)
{
	int rc = kubelet_plugin_expect_connected(plugin, err);
	return rc < 0 ? rc
		      : rpc_unary(plugin->channel, method->path, request, method->reply, timeout_ms,
				  done, user, out, err);
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

V1beta1__PreStartContainerRequest kubelet_pre_start_request(const char *const *ids, size_t count)
{
	V1beta1__PreStartContainerRequest request = V1BETA1__PRE_START_CONTAINER_REQUEST__INIT;
	request.devices_ids = message_strings(ids);
	request.n_devices_ids = count;
	return request;
}

int kubelet_call_options(struct kubelet_plugin *plugin, uint64_t timeout_ms, struct rpc_answer *out,
			 struct error *err)
{
	V1beta1__Empty request = V1BETA1__EMPTY__INIT;
	return kubelet_call(plugin, &kubelet_method_options, &request.base, timeout_ms, out, err);
}
