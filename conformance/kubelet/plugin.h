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

/* For any call of one's own, also asynchronous ones (rpc/client.h); NULL once disconnected. */
struct rpc_channel *kubelet_plugin_channel(const struct kubelet_plugin *plugin);

/* The kubelet's own ListAndWatch; NULL before it was opened. It stays readable after its end. */
struct kubelet_stream *kubelet_plugin_stream(const struct kubelet_plugin *plugin);

/*
 * Raw calls: they bypass the device model, run the loop, and report the gRPC status as data. They
 * return 0 when an answer or a status came, also one other than OK; ERROR_TIMEOUT cannot happen,
 * because a deadline that passes is RPC_DEADLINE_EXCEEDED. ERROR_UNAVAILABLE when the plugin is
 * disconnected. `timeout_ms` 0: no deadline.
 */

/* Any method: "/package.Service/Method". */
int kubelet_call(struct kubelet_plugin *plugin, const char *method, const ProtobufCMessage *request,
		 const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms,
		 struct rpc_answer *out, struct error *err);

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

/* PreStartContainer (V1beta1__PreStartContainerResponse). */
int kubelet_call_pre_start(struct kubelet_plugin *plugin, const char *const *ids, size_t count,
			   uint64_t timeout_ms, struct rpc_answer *out, struct error *err);

/* GetDevicePluginOptions (V1beta1__DevicePluginOptions). */
int kubelet_call_options(struct kubelet_plugin *plugin, uint64_t timeout_ms, struct rpc_answer *out,
			 struct error *err);
