/* SPDX-License-Identifier: MIT */
/* Calls about pod sandboxes. */
#include "base/cleanup.h"
#include "containers/cri/call.h"

#include <string.h>

int cri_run_pod_sandbox_wait(struct cri *cri, Runtime__V1__PodSandboxConfig *config,
			     const char *handler, char **id, struct error *err)
{
	Runtime__V1__RunPodSandboxRequest request = {0};
	Runtime__V1__RunPodSandboxResponse *reply CLEANUP_CRI_REPLY = NULL;
	int rc = 0;

	runtime__v1__run_pod_sandbox_request__init(&request);
	request.config = config;
	memcpy(&request.runtime_handler, &handler, sizeof(handler));
	rc = cri_call_wait(cri, CRI_RUNTIME_METHOD("RunPodSandbox"), &request.base,
			   &runtime__v1__run_pod_sandbox_response__descriptor,
			   CRI_SANDBOX_TIMEOUT_MS, &reply, err);
	return rc == 0 ? cri_copy_promised(reply->pod_sandbox_id, "pod sandbox id", id, err) : rc;
}

int cri_stop_pod_sandbox_wait(struct cri *cri, const char *id, struct error *err)
{
	Runtime__V1__StopPodSandboxRequest request = {0};

	runtime__v1__stop_pod_sandbox_request__init(&request);
	memcpy(&request.pod_sandbox_id, &id, sizeof(id));
	return cri_call_id_wait(cri, CRI_RUNTIME_METHOD("StopPodSandbox"), &request.base,
				&runtime__v1__stop_pod_sandbox_response__descriptor, err);
}

int cri_remove_pod_sandbox_wait(struct cri *cri, const char *id, struct error *err)
{
	Runtime__V1__RemovePodSandboxRequest request = {0};

	runtime__v1__remove_pod_sandbox_request__init(&request);
	memcpy(&request.pod_sandbox_id, &id, sizeof(id));
	return cri_call_id_wait(cri, CRI_RUNTIME_METHOD("RemovePodSandbox"), &request.base,
				&runtime__v1__remove_pod_sandbox_response__descriptor, err);
}

int cri_list_pod_sandbox_wait(struct cri *cri, Runtime__V1__PodSandboxFilter *filter,
			      Runtime__V1__ListPodSandboxResponse **out, struct error *err)
{
	Runtime__V1__ListPodSandboxRequest request = {0};

	runtime__v1__list_pod_sandbox_request__init(&request);
	request.filter = filter;
	return cri_call_wait(cri, CRI_RUNTIME_METHOD("ListPodSandbox"), &request.base,
			     &runtime__v1__list_pod_sandbox_response__descriptor, CRI_TIMEOUT_MS,
			     out, err);
}
