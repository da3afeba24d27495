/* SPDX-License-Identifier: MIT */
#include "conformance/runner/pod_resources.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "rpc/client.h"
#include "rpc/proto/podresources_v1.pb-c.h"

#include <string.h>

const struct json_member held_device_members[] = {
	JSON_TEXT(struct held_device, "resource", resource, JSON_REQUIRED, NULL),
	JSON_TEXT(struct held_device, "device", id, JSON_REQUIRED, NULL),
	JSON_TEXT(struct held_device, "pod", pod, JSON_REQUIRED, NULL),
	JSON_TEXT(struct held_device, "container", container, JSON_REQUIRED, NULL),
	{0},
};

static int add_container(struct held_devices *held, const char *pod,
			 const V1__ContainerResources *container, struct error *err)
{
	for (size_t i = 0; i < container->n_devices; i++) {
		const V1__ContainerDevices *devices = container->devices[i];
		for (size_t k = 0; k < devices->n_device_ids; k++) {
			const char *const names[] = {devices->resource_name, devices->device_ids[k],
						     pod, container->name};
			for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
				if (strlen(names[n]) > POD_RESOURCES_NAME_MAX)
					return error_set(
						err, ERROR_LIMIT,
						"a name of %zu bytes, at most %d are expected",
						strlen(names[n]), (int)POD_RESOURCES_NAME_MAX);
			}
			if (held->count == POD_RESOURCES_HELD_MAX)
				return error_set(err, ERROR_LIMIT, "pods hold more than %d devices",
						 (int)POD_RESOURCES_HELD_MAX);
			held->items = arena_grow(&held->arena, held->items, held->count,
						 sizeof(*held->items));
			held->items[held->count++] = (struct held_device){
				.resource = arena_string(&held->arena, names[0]),
				.id = arena_string(&held->arena, names[1]),
				.pod = arena_string(&held->arena, names[2]),
				.container = arena_string(&held->arena, names[3]),
			};
		}
	}
	return 0;
}

int pod_resources_list(uv_loop_t *loop, const char *socket, uint64_t timeout_ms,
		       struct held_devices *out, struct error *err)
{
	struct held_devices held CLEANUP_HELD_DEVICES = {0};
	char *address CLEANUP_FREE = text_format("%s%s", socket[0] == '/' ? "unix:" : "", socket);
	const V1__ListPodResourcesRequest request = V1__LIST_POD_RESOURCES_REQUEST__INIT;
	struct rpc_channel *channel = NULL;
	ProtobufCMessage *reply = NULL;
	*out = (struct held_devices){0};
	int rc = rpc_channel_open(loop, address, NULL, &channel, err);
	if (rc == 0)
		rc = rpc_channel_connect_wait(channel, timeout_ms, err);
	if (rc == 0)
		rc = rpc_unary_wait(channel, POD_RESOURCES_SERVICE "List", &request.base,
				    &v1__list_pod_resources_response__descriptor, timeout_ms,
				    &reply, err);
	rpc_channel_close(channel);
	const V1__ListPodResourcesResponse *response =
		(const V1__ListPodResourcesResponse *)(const void *)reply;
	for (size_t i = 0; rc == 0 && i < response->n_pod_resources; i++) {
		const V1__PodResources *from = response->pod_resources[i];
		char *pod CLEANUP_FREE = text_format("%s/%s", from->namespace_, from->name);
		for (size_t k = 0; rc == 0 && k < from->n_containers; k++)
			rc = add_container(&held, pod, from->containers[k], err);
	}
	if (reply != NULL)
		protobuf_c_message_free_unpacked(reply, NULL);
	if (rc < 0)
		return error_wrap(err, rc, "%s", socket);
	*out = STEAL(held);
	return 0;
}

void held_devices_free(struct held_devices *held)
{
	arena_free(&held->arena);
	*held = (struct held_devices){0};
}
