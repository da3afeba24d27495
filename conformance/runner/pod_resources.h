/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The devices that the pods of a live node hold, as reported by its kubelet: PodResources v1, call List.
 * Devices of Dynamic Resource Allocation are ignored. Source: pkg/apis/podresources/v1/api.proto in
 * kubernetes/kubelet.
 */

#include "base/json_members.h"

#include <uv.h>

#define POD_RESOURCES_SERVICE "/v1.PodResourcesLister/"

enum {
	POD_RESOURCES_HELD_MAX = 4096, /* devices; a time-sliced GPU has one for each replica */
	POD_RESOURCES_NAME_MAX = 1024, /* bytes of a name; those of Kubernetes have at most 317 */
};

/* A device that a container of a pod holds. */
struct held_device {
	const char *resource, *id;
	const char *pod; /* NAMESPACE/NAME */
	const char *container;
};

/* As it is written: {resource, device, pod, container}. */
extern const struct json_member held_device_members[];

struct held_devices {
	struct held_device *items;
	size_t count;
	struct arena arena; /* owns them */
};

/*
 * Asks the kubelet at `socket`, an address (rpc/address.h) or the path of a socket file; errors name it. Both the
 * connection and the answer may take `timeout_ms`. ERROR_REMOTE: another status than OK, such as UNIMPLEMENTED from
 * another service; ERROR_LIMIT: more, or longer names, than the above; those of the channel (rpc/client.h). After an
 * error *out is empty.
 */
int pod_resources_list(uv_loop_t *loop, const char *socket, uint64_t timeout_ms,
		       struct held_devices *out, struct error *err);

void held_devices_free(struct held_devices *held);
#define CLEANUP_HELD_DEVICES __attribute__((cleanup(held_devices_free)))
