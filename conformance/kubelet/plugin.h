/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One connection of the kubelet to one plugin socket, and raw calls on it. The object lives as long
 * as the record of its registration, and as it serves a resource; the connection lives until the
 * stream ends or is cut.
 */

#include "base/cleanup.h"
#include "conformance/kubelet/stream.h"

#define DEVICE_PLUGIN_VERSION "v1beta1"
#define DEVICE_PLUGIN_SERVICE "/v1beta1.DevicePlugin/"

struct kubelet_plugin;

bool kubelet_plugin_is_connected(const struct kubelet_plugin *plugin);

/* ERROR_UNAVAILABLE, with the cause, once it is disconnected. */
int kubelet_plugin_expect_connected(const struct kubelet_plugin *plugin, struct error *err);

/* For any call of one's own, also asynchronous ones (rpc/client.h); NULL once disconnected, and for NULL. */
struct rpc_channel *kubelet_plugin_channel(const struct kubelet_plugin *plugin);

/* The kubelet's own ListAndWatch; NULL before it was opened, and for NULL. It stays readable after its end. */
struct kubelet_stream *kubelet_plugin_stream(const struct kubelet_plugin *plugin);

/*
 * Raw calls: they bypass the device model, run the loop, and report the gRPC status as data. They
 * return 0 when an answer or a status came, also one other than OK; ERROR_TIMEOUT cannot happen,
 * because a deadline that passes is RPC_DEADLINE_EXCEEDED. ERROR_UNAVAILABLE when the plugin is
 * disconnected. `timeout_ms` 0: no deadline.
 */

struct kubelet_method {
	const char *path; /* "/package.Service/Method" */
	const ProtobufCMessageDescriptor *reply;
};

extern const struct kubelet_method kubelet_method_options, kubelet_method_allocate,
	kubelet_method_prefer, kubelet_method_pre_start;

int kubelet_call(struct kubelet_plugin *plugin, const struct kubelet_method *method,
		 const ProtobufCMessage *request, uint64_t timeout_ms, struct rpc_answer *out,
		 struct error *err);

/* rpc_unary() on the connection. ERROR_UNAVAILABLE. */
int kubelet_call_start(struct kubelet_plugin *plugin, const struct kubelet_method *method,
		       const ProtobufCMessage *request, uint64_t timeout_ms, rpc_reply_fn *done,
		       void *user, struct rpc_call **out, struct error *err);

/* An AllocateRequest with up to two container_requests. Zero-initialise, then add them; `ids` is
 * borrowed. */
struct kubelet_allocate_request {
	V1beta1__AllocateRequest request;
	V1beta1__ContainerAllocateRequest containers[2], *pointers[2];
};

void kubelet_allocate_request_add(struct kubelet_allocate_request *request, const char *const *ids,
				  size_t count);

/* A PreferredAllocationRequest for one container. `available` is borrowed; must_include may be added to `container`. */
struct kubelet_preferred_request {
	V1beta1__PreferredAllocationRequest request;
	V1beta1__ContainerPreferredAllocationRequest container, *pointer;
};

void kubelet_preferred_request_init(struct kubelet_preferred_request *request,
				    const char *const *available, size_t count, int32_t size);

/* `ids` is borrowed. */
V1beta1__PreStartContainerRequest kubelet_pre_start_request(const char *const *ids, size_t count);

/* GetDevicePluginOptions (V1beta1__DevicePluginOptions). */
int kubelet_call_options(struct kubelet_plugin *plugin, uint64_t timeout_ms, struct rpc_answer *out,
			 struct error *err);
