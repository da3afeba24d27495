/* SPDX-License-Identifier: MIT */
#include "conformance/runner/doubles/pods_double.h"

#include "base/cleanup.h"
#include "conformance/runner/pod_resources.h"
#include "rpc/message.h"
#include "rpc/proto/podresources_v1.pb-c.h"

#include <string.h>

enum { ANSWER_MAX = 64 * 1024 * 1024 };

static void on_list(struct rpc_stream *stream, struct rpc_slice request, void *user)
{
	const struct pods_double *pods = user;
	const struct rpc_slice answer = {(const uint8_t *)text_string(&pods->answer),
					 pods->answer.size};
	(void)request;
	if (pods->silent)
		return;
	if (pods->code == RPC_OK)
		(void)rpc_stream_send(stream, answer, NULL);
	rpc_stream_finish(stream, pods->code, "%s", pods->code == RPC_OK ? "" : "not today");
}

int pods_double_open(struct pods_double *pods, uv_loop_t *loop, const char *path,
		     const char *method, struct error *err)
{
	const struct rpc_server_options options = {.limits = {.message_max = ANSWER_MAX}};
	char *address CLEANUP_FREE = text_format("unix:%s", path);
	int rc = rpc_server_new(loop, &options, &pods->server, err);
	if (rc == 0)
		rc = rpc_server_add(pods->server,
				    method != NULL ? method : POD_RESOURCES_SERVICE "List", on_list,
				    pods, err);
	return rc == 0 ? rpc_server_listen(pods->server, address, err) : rc;
}

void pods_double_add(struct pods_double *pods, const char *pod, const char *container,
		     const char *resource, const char *id)
{
	V1__ListPodResourcesResponse response = V1__LIST_POD_RESOURCES_RESPONSE__INIT;
	V1__PodResources named = V1__POD_RESOURCES__INIT;
	V1__ContainerResources resources = V1__CONTAINER_RESOURCES__INIT;
	V1__ContainerDevices devices = V1__CONTAINER_DEVICES__INIT;
	const size_t size = strcspn(pod, "/");
	char *namespace CLEANUP_FREE = strndup(pod, size);
	devices.resource_name = wire_string(resource);
	devices.device_ids = message_strings(&id);
	devices.n_device_ids = 1;
	resources.name = wire_string(container);
	resources.devices = (V1__ContainerDevices *[]){&devices};
	resources.n_devices = 1;
	named.namespace_ = namespace;
	named.name = wire_string(&pod[size + (pod[size] == '/')]);
	named.containers = (V1__ContainerResources *[]){&resources};
	named.n_containers = 1;
	response.pod_resources = (V1__PodResources *[]){&named};
	response.n_pod_resources = 1;
	(void)message_pack(&response.base, &pods->answer, NULL);
}
