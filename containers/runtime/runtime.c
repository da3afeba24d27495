/* SPDX-License-Identifier: MIT */
/* Parts that a private runtime and an existing one share. */
#include "containers/runtime/runtime.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/offers.h"
#include "containers/runtime/runtime_internal.h"
#include "rpc/loop.h"

#include <stdlib.h>
#include <string.h>

enum { STOP_TIMEOUT_MS = 15000 };

int runtime_new(uv_loop_t *loop, const char *base_directory, const char *cri_address,
		struct runtime **out, struct error *err)
{
	char *directory CLEANUP_FREE = NULL;
	int rc = run_directory_make(base_directory, cri_address, &directory, err);
	if (rc < 0)
		return rc;
	struct runtime *runtime = memory_allocate(1, sizeof(*runtime));
	char *work CLEANUP_FREE = path_join(directory, "work");
	runtime->loop = loop;
	runtime->directory = STEAL(directory);
	runtime->description = (struct runtime_description){
		.is_private = cri_address == NULL,
		.run_id = path_base(runtime->directory),
		.name = "",
		.version = "",
		.api_version = "",
		.snapshotter = "",
		.handlers = &runtime->handlers,
		.address = arena_string(&runtime->strings, cri_address),
		.cgroup_parent = "",
		.work_directory = arena_string(&runtime->strings, work),
	};
	*out = runtime;
	return 0;
}

int runtime_connect(struct runtime *runtime, struct error *err)
{
	struct runtime_description *description = &runtime->description;
	Runtime__V1__VersionResponse *version CLEANUP_CRI_REPLY = NULL;
	Runtime__V1__StatusResponse *status CLEANUP_CRI_REPLY = NULL;
	int rc = cri_open(runtime->loop, description->address, &runtime->cri, err);
	if (rc == 0)
		rc = cri_version_wait(runtime->cri, &version, err);
	if (rc == 0)
		rc = cri_status_wait(runtime->cri, false, &status, err);
	bool ready = false;
	size_t count = rc == 0 && status->status != NULL ? status->status->n_conditions : 0;
	for (size_t i = 0; i < count; i++) {
		const Runtime__V1__RuntimeCondition *condition = status->status->conditions[i];
		ready = ready ||
			(strcmp(condition->type, "RuntimeReady") == 0 && condition->status);
	}
	if (rc == 0 && !ready)
		rc = error_set(err, ERROR_UNAVAILABLE, "%s: the runtime is not ready",
			       description->address);
	if (rc != 0) {
		cri_close(STEAL(runtime->cri));
		return rc;
	}
	description->name = arena_string(&runtime->strings, version->runtime_name);
	description->version = arena_string(&runtime->strings, version->runtime_version);
	description->api_version = arena_string(&runtime->strings, version->runtime_api_version);
	return 0;
}

int runtime_attach(uv_loop_t *loop, const char *address, const char *base_directory,
		   struct runtime **out, struct error *err)
{
	struct runtime *runtime = NULL;
	int rc = runtime_new(loop, base_directory, address, &runtime, err);
	if (rc == 0)
		rc = runtime_connect(runtime, err);
	if (rc != 0) {
		(void)runtime_stop(runtime, NULL);
		return error_wrap(err, rc, "container runtime %s", address);
	}
	*out = runtime;
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

bool runtime_has_ended(void *runtime)
{
	return process_has_ended(((const struct runtime *)runtime)->containerd);
}

int runtime_stop(struct runtime *runtime, struct error *err)
{
	if (runtime == NULL)
		return 0;
	const struct runtime_description *description = &runtime->description;
	const bool is_private = description->is_private;
	int result = 0;
	int rc = 0;

	/* What carries this run's label, and from a runtime that stays the imported images. */
	if (runtime->cri != NULL) {
		result = cri_sweep(runtime->cri, description->run_id, NULL, NULL, err);
		if (result < 0 && !is_private) { /* it may have been restarted */
			cri_close(STEAL(runtime->cri));
			result = cri_open(runtime->loop, description->address, &runtime->cri, err);
			if (result == 0)
				result = cri_sweep(runtime->cri, description->run_id, NULL, NULL,
						   err);
		}
		for (size_t i = 0; result == 0 && !is_private && i < runtime->imported.count; i++) {
			const char *reference = runtime->imported.items[i];
			if (!run_directory_shares_image(runtime->directory, description->address,
							reference))
				result = cri_remove_image_wait(runtime->cri, reference, err);
		}
		cri_close(STEAL(runtime->cri));
		/* A private runtime that has died is taken apart all the same. */
		result = is_private ? 0 : result;
	}

	/* TERM and, after the grace period, KILL; the loop runs until it has ended. */
	if (runtime->containerd != NULL) {
		process_stop(runtime->containerd);
		rc = loop_wait(runtime->loop, runtime_has_ended, runtime, STOP_TIMEOUT_MS,
			       "end of containerd", result == 0 ? err : NULL);
		result = result == 0 ? rc : result;
		process_free(STEAL(runtime->containerd));
	}

	/* The next run looks after what could not be removed from a runtime that stays. */
	rc = 0;
	if (is_private || result == 0 || !OFFERS_PRIVATE_RUNTIME)
		rc = run_directory_remove(runtime->directory, result == 0 ? err : NULL);
	free(runtime->directory);
	free(runtime->programs);
	arena_free(&runtime->strings);
	text_list_free(&runtime->imported);
	text_list_free(&runtime->handlers);
	free(runtime);
	return result == 0 ? rc : result;
}
