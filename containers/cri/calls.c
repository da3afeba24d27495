/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "containers/cri/cri.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Copies a string that the answer must hold. */
static int copy_promised(const char *value, const char *what, char **out, struct error *err)
{
	if (value[0] == '\0')
		return error_set(err, ERROR_PROTOCOL, "the runtime's answer has no %s", what);
	*out = memory_copy(value);
	return 0;
}

/* A call whose object may be gone already. */
static int undo(struct cri *cri, const char *method, const ProtobufCMessage *request,
		struct error *err)
{
	struct error failure = {0};
	int rc = cri_call_wait(cri, method, request, NULL, &failure);
	return rc == 0 || failure.remote == RPC_NOT_FOUND ? 0 : error_copy(err, &failure);
}

int cri_version_wait(struct cri *cri, Runtime__V1__VersionResponse **out, struct error *err)
{
	Runtime__V1__VersionRequest request = RUNTIME__V1__VERSION_REQUEST__INIT;
	request.version = wire_string("v1");
	return cri_call_wait(cri, "Version", &request.base, out, err);
}

int cri_status_wait(struct cri *cri, bool verbose, Runtime__V1__StatusResponse **out,
		    struct error *err)
{
	Runtime__V1__StatusRequest request = RUNTIME__V1__STATUS_REQUEST__INIT;
	request.verbose = verbose;
	return cri_call_wait(cri, "Status", &request.base, out, err);
}

int cri_image_status_wait(struct cri *cri, const char *image, bool verbose,
			  Runtime__V1__ImageStatusResponse **out, struct error *err)
{
	Runtime__V1__ImageStatusRequest request = RUNTIME__V1__IMAGE_STATUS_REQUEST__INIT;
	Runtime__V1__ImageSpec spec = RUNTIME__V1__IMAGE_SPEC__INIT;
	spec.image = wire_string(image);
	request.image = &spec;
	request.verbose = verbose;
	return cri_call_wait(cri, "ImageStatus", &request.base, out, err);
}

int cri_remove_image_wait(struct cri *cri, const char *image, struct error *err)
{
	Runtime__V1__RemoveImageRequest request = RUNTIME__V1__REMOVE_IMAGE_REQUEST__INIT;
	Runtime__V1__ImageSpec spec = RUNTIME__V1__IMAGE_SPEC__INIT;
	spec.image = wire_string(image);
	request.image = &spec;
	return undo(cri, "RemoveImage", &request.base, err);
}

int cri_run_pod_sandbox_wait(struct cri *cri, Runtime__V1__PodSandboxConfig *config,
			     const char *handler, char **id, struct error *err)
{
	Runtime__V1__RunPodSandboxRequest request = RUNTIME__V1__RUN_POD_SANDBOX_REQUEST__INIT;
	Runtime__V1__RunPodSandboxResponse *reply CLEANUP_CRI_REPLY = NULL;
	request.config = config;
	request.runtime_handler = wire_string(handler);
	int rc = cri_call_wait(cri, "RunPodSandbox", &request.base, &reply, err);
	if (rc < 0)
		return rc;
	return copy_promised(reply->pod_sandbox_id, "pod sandbox id", id, err);
}

int cri_create_container_wait(struct cri *cri, const char *sandbox_id,
			      Runtime__V1__ContainerConfig *config,
			      Runtime__V1__PodSandboxConfig *sandbox, char **id, struct error *err)
{
	Runtime__V1__CreateContainerRequest request = RUNTIME__V1__CREATE_CONTAINER_REQUEST__INIT;
	Runtime__V1__CreateContainerResponse *reply CLEANUP_CRI_REPLY = NULL;
	request.pod_sandbox_id = wire_string(sandbox_id);
	request.config = config;
	request.sandbox_config = sandbox;
	int rc = cri_call_wait(cri, "CreateContainer", &request.base, &reply, err);
	if (rc < 0)
		return rc;
	return copy_promised(reply->container_id, "container id", id, err);
}

int cri_start_container_wait(struct cri *cri, const char *id, struct error *err)
{
	Runtime__V1__StartContainerRequest request = RUNTIME__V1__START_CONTAINER_REQUEST__INIT;
	request.container_id = wire_string(id);
	return cri_call_wait(cri, "StartContainer", &request.base, NULL, err);
}

int cri_container_status_wait(struct cri *cri, const char *id, bool verbose,
			      Runtime__V1__ContainerStatusResponse **out, struct error *err)
{
	Runtime__V1__ContainerStatusRequest request = RUNTIME__V1__CONTAINER_STATUS_REQUEST__INIT;
	Runtime__V1__ContainerStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	request.container_id = wire_string(id);
	request.verbose = verbose;
	int rc = cri_call_wait(cri, "ContainerStatus", &request.base, &reply, err);
	if (rc < 0)
		return rc;
	if (reply->status == NULL)
		return error_set(err, ERROR_PROTOCOL,
				 "the runtime's answer has no container status");
	*out = STEAL(reply);
	return 0;
}

int cri_info_pid(const char *info, int64_t *pid, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	int rc = json_parse(info, strlen(info), &json, err);
	struct json_at root = json_root(json);
	if (rc == 0)
		rc = json_need_int(&root, "pid", 0, INT32_MAX, pid, err);
	if (rc < 0)
		return error_wrap(err, rc, "the runtime's information on the container");
	return *pid != 0 ? 0 : error_set(err, ERROR_NOT_FOUND, "the container has no process");
}

int cri_container_pid_wait(struct cri *cri, const char *id, int64_t *pid, struct error *err)
{
	Runtime__V1__ContainerStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	int rc = cri_container_status_wait(cri, id, true, &reply, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < reply->n_info; i++) {
		if (strcmp(reply->info[i]->key, "info") == 0)
			return cri_info_pid(reply->info[i]->value, pid, err);
	}
	return error_set(err, ERROR_UNSUPPORTED,
			 "the container runtime does not report a container's process");
}

/* The four requests are the same on the wire: a message whose field 1 is the id. */
int cri_undo_wait(struct cri *cri, const char *method, const char *id, struct error *err)
{
	Runtime__V1__RemoveContainerRequest request = RUNTIME__V1__REMOVE_CONTAINER_REQUEST__INIT;
	request.container_id = wire_string(id);
	return undo(cri, method, &request.base, err);
}

int cri_sweep(struct cri *cri, const char *run_id, const char *check_id, size_t *found,
	      struct error *err)
{
	/* An empty selector would match everything in the runtime. */
	if (run_id == NULL || run_id[0] == '\0')
		return error_set(err, ERROR_ARGUMENT, "sweep without a run id");

	Runtime__V1__PodSandboxFilter__LabelSelectorEntry run =
		RUNTIME__V1__POD_SANDBOX_FILTER__LABEL_SELECTOR_ENTRY__INIT;
	Runtime__V1__PodSandboxFilter__LabelSelectorEntry check = run;
	Runtime__V1__PodSandboxFilter__LabelSelectorEntry *labels[] = {&run, &check};
	Runtime__V1__PodSandboxFilter filter = RUNTIME__V1__POD_SANDBOX_FILTER__INIT;
	Runtime__V1__ListPodSandboxRequest request = RUNTIME__V1__LIST_POD_SANDBOX_REQUEST__INIT;
	run.key = wire_string(CRI_LABEL_RUN);
	run.value = wire_string(run_id);
	check.key = wire_string(CRI_LABEL_CHECK);
	check.value = wire_string(check_id);
	filter.label_selector = labels;
	filter.n_label_selector = check_id != NULL ? 2 : 1;
	request.filter = &filter;

	Runtime__V1__ListPodSandboxResponse *list CLEANUP_CRI_REPLY = NULL;
	int result = cri_call_wait(cri, "ListPodSandbox", &request.base, &list, err);
	if (found != NULL)
		*found = result == 0 ? list->n_items : 0;
	for (size_t i = 0; list != NULL && i < list->n_items; i++) {
		const char *id = list->items[i]->id;
		int rc = cri_undo_wait(cri, "StopPodSandbox", id, result == 0 ? err : NULL);
		result = result == 0 ? rc : result;
		rc = cri_undo_wait(cri, "RemovePodSandbox", id, result == 0 ? err : NULL);
		result = result == 0 ? rc : result;
	}
	return result;
}

bool cri_version_at_least(const char *text, unsigned major, unsigned minor)
{
	static const char digits[] = "0123456789";
	unsigned have_major = 0;
	unsigned have_minor = 0;
	text += *text == 'v';
	/* "%u" would accept a sign. */
	const char *dot = text + strspn(text, digits);
	return dot != text && *dot == '.' && isdigit((unsigned char)dot[1]) &&
	       sscanf(text, "%5u.%5u", &have_major, &have_minor) == 2 &&
	       (have_major > major || (have_major == major && have_minor >= minor));
}
