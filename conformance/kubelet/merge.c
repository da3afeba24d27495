/* SPDX-License-Identifier: MIT */
#include "containers/grant/merge.h"
#include "base/cleanup.h"
#include "conformance/kubelet/pod.h"

#include <string.h>

/* Variables and annotations are maps: within one answer protobuf-go hands out the last value of a key.
 */
static int add_answer(struct grant_merge *merge, bool windows, const struct kubelet_answer *answer)
{
	const V1beta1__ContainerAllocateResponse *response = answer->response;
	int rc = grant_merge_from(merge, answer->resource);
	for (size_t i = 0; rc == 0 && i < response->n_envs; i++)
		rc = grant_merge_add(merge, GRANT_ENV,
				     (struct grant_entry){.name = response->envs[i]->key,
							  .value = response->envs[i]->value});
	for (size_t i = 0; rc == 0 && i < response->n_devices; i++)
		rc = grant_merge_add(
			merge, GRANT_DEVICE,
			(struct grant_entry){.container_path = response->devices[i]->container_path,
					     .host_path = response->devices[i]->host_path,
					     .permissions = response->devices[i]->permissions});
	for (size_t i = 0; rc == 0 && i < response->n_mounts; i++)
		rc = grant_merge_add(
			merge, GRANT_MOUNT,
			(struct grant_entry){.container_path = response->mounts[i]->container_path,
					     .host_path = response->mounts[i]->host_path,
					     .read_only = response->mounts[i]->read_only != 0});
	for (size_t i = 0; rc == 0 && i < response->n_annotations; i++)
		rc = grant_merge_add(
			merge, GRANT_ANNOTATION,
			(struct grant_entry){.name = response->annotations[i]->key,
					     .value = response->annotations[i]->value});
	for (size_t i = 0; rc == 0 && i < response->n_cdi_devices; i++) {
		const struct grant_entry device = {.name = response->cdi_devices[i]->name};
		rc = windows ? grant_merge_drop(merge, GRANT_CDI_DEVICE, &device)
			     : grant_merge_add(merge, GRANT_CDI_DEVICE, device);
	}
	return rc;
}

int kubelet_merge(bool windows, const struct kubelet_answer *answers, size_t count,
		  struct grant *out, struct error *err)
{
	struct grant grant CLEANUP_GRANT = {0};
	struct grant_merge merge CLEANUP_GRANT_MERGE = {.out = &grant, .err = err};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = add_answer(&merge, windows, &answers[i]);
	if (rc != 0)
		return rc;
	*out = grant;
	grant = (struct grant){0};
	return 0;
}
