/* SPDX-License-Identifier: MIT */
/* What a private runtime and one that is only used share. */
#include "base/cleanup.h"
#include "containers/cri/sweep.h"
#include "containers/runtime/runtime_internal.h"

#include <stdlib.h>
#include <string.h>

static bool runtime_condition_holds(const Runtime__V1__StatusResponse *reply, const char *type)
{
	for (size_t i = 0; reply->status != NULL && i < reply->status->n_conditions; i++) {
		const Runtime__V1__RuntimeCondition *condition = reply->status->conditions[i];

		if (strcmp(condition->type, type) == 0)
			return condition->status;
	}
	return false;
}

int runtime_connect(struct runtime *runtime, struct error *err)
{
	Runtime__V1__VersionResponse *version CLEANUP_CRI_REPLY = NULL;
	Runtime__V1__StatusResponse *status CLEANUP_CRI_REPLY = NULL;
	int rc = cri_open(runtime->loop, runtime->address, &runtime->cri, err);

	if (rc == 0)
		rc = cri_version_wait(runtime->cri, &version, err);
	if (rc == 0)
		rc = cri_status_wait(runtime->cri, false, &status, err);
	if (rc == 0 && !runtime_condition_holds(status, "RuntimeReady"))
		rc = error_set(err, ERROR_UNAVAILABLE, "%s: the runtime is not ready",
			       runtime->address);
	if (rc != 0) {
		cri_close(runtime->cri);
		runtime->cri = NULL;
		return rc;
	}
	runtime->name = strdup(version->runtime_name);
	runtime->version = strdup(version->runtime_version);
	runtime->api_version = strdup(version->runtime_api_version);
	if (runtime->name == NULL || runtime->version == NULL || runtime->api_version == NULL)
		return error_memory(err);
	runtime->description.name = runtime->name;
	runtime->description.version = runtime->version;
	runtime->description.api_version = runtime->api_version;
	return 0;
}

const struct runtime_description *runtime_describe(const struct runtime *runtime)
{
	return &runtime->description;
}

struct cri *runtime_cri(const struct runtime *runtime)
{
	return runtime->cri;
}

static int runtime_remove_images(struct runtime *runtime, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < runtime->imported.count; i++) {
		int rc = cri_remove_image_wait(runtime->cri, runtime->imported.items[i],
					       result == 0 ? err : NULL);

		if (result == 0)
			result = rc;
	}
	return result;
}

int runtime_disconnect(struct runtime *runtime, struct error *err)
{
	int rc = 0;

	if (runtime->cri == NULL)
		return 0;
	rc = cri_sweep(runtime->cri, runtime->description.run_id, NULL, NULL, err);
	if (rc == 0 && !runtime->description.is_private)
		rc = runtime_remove_images(runtime, err);
	cri_close(runtime->cri);
	runtime->cri = NULL;
	/* A private runtime that has died is taken apart all the same. */
	return runtime->description.is_private ? 0 : rc;
}

void runtime_free(struct runtime *runtime)
{
	free(runtime->directory);
	free(runtime->work_directory);
	free(runtime->address);
	free(runtime->cgroup_parent);
	free(runtime->name);
	free(runtime->version);
	free(runtime->api_version);
	free(runtime->snapshotter);
	free(runtime->snapshotter_reason);
	text_list_free(&runtime->imported);
	free(runtime);
}
