/* SPDX-License-Identifier: MIT */
/* Calls about containers. */
#include "base/json.h"
#include "containers/cri/call.h"

#include <string.h>

int cri_create_container_wait(struct cri *cri, const char *sandbox_id,
			      Runtime__V1__ContainerConfig *config,
			      Runtime__V1__PodSandboxConfig *sandbox, char **id, struct error *err)
{
	Runtime__V1__CreateContainerRequest request = {0};
	Runtime__V1__CreateContainerResponse *reply CLEANUP_CRI_REPLY = NULL;
	int rc = 0;

	runtime__v1__create_container_request__init(&request);
	memcpy(&request.pod_sandbox_id, &sandbox_id, sizeof(sandbox_id));
	request.config = config;
	request.sandbox_config = sandbox;
	rc = cri_call_wait(cri, CRI_RUNTIME_METHOD("CreateContainer"), &request.base,
			   &runtime__v1__create_container_response__descriptor, CRI_TIMEOUT_MS,
			   &reply, err);
	return rc == 0 ? cri_copy_promised(reply->container_id, "container id", id, err) : rc;
}

int cri_start_container_wait(struct cri *cri, const char *id, struct error *err)
{
	Runtime__V1__StartContainerRequest request = {0};

	runtime__v1__start_container_request__init(&request);
	memcpy(&request.container_id, &id, sizeof(id));
	return cri_call_wait(cri, CRI_RUNTIME_METHOD("StartContainer"), &request.base,
			     &runtime__v1__start_container_response__descriptor, CRI_TIMEOUT_MS,
			     NULL, err);
}

int cri_stop_container_wait(struct cri *cri, const char *id, unsigned grace_seconds,
			    struct error *err)
{
	Runtime__V1__StopContainerRequest request = {0};

	runtime__v1__stop_container_request__init(&request);
	memcpy(&request.container_id, &id, sizeof(id));
	request.timeout = grace_seconds;
	return cri_call_id_wait(cri, CRI_RUNTIME_METHOD("StopContainer"), &request.base,
				&runtime__v1__stop_container_response__descriptor, err);
}

int cri_remove_container_wait(struct cri *cri, const char *id, struct error *err)
{
	Runtime__V1__RemoveContainerRequest request = {0};

	runtime__v1__remove_container_request__init(&request);
	memcpy(&request.container_id, &id, sizeof(id));
	return cri_call_id_wait(cri, CRI_RUNTIME_METHOD("RemoveContainer"), &request.base,
				&runtime__v1__remove_container_response__descriptor, err);
}

int cri_container_status_wait(struct cri *cri, const char *id,
			      Runtime__V1__ContainerStatusResponse **out, struct error *err)
{
	Runtime__V1__ContainerStatusRequest request = {0};
	Runtime__V1__ContainerStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	int rc = 0;

	runtime__v1__container_status_request__init(&request);
	memcpy(&request.container_id, &id, sizeof(id));
	rc = cri_call_wait(cri, CRI_RUNTIME_METHOD("ContainerStatus"), &request.base,
			   &runtime__v1__container_status_response__descriptor, CRI_TIMEOUT_MS,
			   &reply, err);
	if (rc == 0 && reply->status == NULL)
		return error_set(err, ERROR_PROTOCOL,
				 "the runtime's answer has no container status");
	if (rc == 0)
		*out = STEAL(reply);
	return rc;
}

/* The member "pid" of the JSON document "info". */
static int container_read_pid(const char *info, int64_t *pid, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	struct json_at root = {0};
	int rc = json_parse(info, strlen(info), &json, err);

	root = json_root(json);
	rc = rc == 0 ? json_need_int(&root, "pid", 0, INT32_MAX, pid, err) : rc;
	if (rc < 0)
		return error_wrap(err, rc, "the runtime's information on the container");
	return *pid != 0 ? 0 : error_set(err, ERROR_NOT_FOUND, "the container has no process");
}

int cri_container_pid_wait(struct cri *cri, const char *id, int64_t *pid, struct error *err)
{
	Runtime__V1__ContainerStatusRequest request = {0};
	Runtime__V1__ContainerStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	int rc = 0;

	runtime__v1__container_status_request__init(&request);
	memcpy(&request.container_id, &id, sizeof(id));
	request.verbose = true;
	rc = cri_call_wait(cri, CRI_RUNTIME_METHOD("ContainerStatus"), &request.base,
			   &runtime__v1__container_status_response__descriptor, CRI_TIMEOUT_MS,
			   &reply, err);
	for (size_t i = 0; rc == 0 && i < reply->n_info; i++) {
		if (strcmp(reply->info[i]->key, "info") == 0)
			return container_read_pid(reply->info[i]->value, pid, err);
	}
	return rc < 0 ? rc
		      : error_set(err, ERROR_UNSUPPORTED,
				  "the container runtime does not tell a container's process");
}

int cri_container_stats_wait(struct cri *cri, const char *id,
			     Runtime__V1__ContainerStatsResponse **out, struct error *err)
{
	Runtime__V1__ContainerStatsRequest request = {0};

	runtime__v1__container_stats_request__init(&request);
	memcpy(&request.container_id, &id, sizeof(id));
	return cri_call_wait(cri, CRI_RUNTIME_METHOD("ContainerStats"), &request.base,
			     &runtime__v1__container_stats_response__descriptor, CRI_TIMEOUT_MS,
			     out, err);
}

int cri_list_containers_wait(struct cri *cri, Runtime__V1__ContainerFilter *filter,
			     Runtime__V1__ListContainersResponse **out, struct error *err)
{
	Runtime__V1__ListContainersRequest request = {0};

	runtime__v1__list_containers_request__init(&request);
	request.filter = filter;
	return cri_call_wait(cri, CRI_RUNTIME_METHOD("ListContainers"), &request.base,
			     &runtime__v1__list_containers_response__descriptor, CRI_TIMEOUT_MS,
			     out, err);
}

int cri_exec_sync_wait(struct cri *cri, const char *id, const char *const *argv,
		       unsigned timeout_seconds, Runtime__V1__ExecSyncResponse **out,
		       struct error *err)
{
	Runtime__V1__ExecSyncRequest request = {0};

	runtime__v1__exec_sync_request__init(&request);
	memcpy(&request.container_id, &id, sizeof(id));
	memcpy(&request.cmd, &argv, sizeof(argv));
	while (argv[request.n_cmd] != NULL)
		request.n_cmd++;
	request.timeout = timeout_seconds;
	return cri_call_wait(cri, CRI_RUNTIME_METHOD("ExecSync"), &request.base,
			     &runtime__v1__exec_sync_response__descriptor, CRI_TIMEOUT_MS, out,
			     err);
}
