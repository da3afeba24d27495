/* SPDX-License-Identifier: MIT */
#include "containers/grant/merge.h"
#include "base/cleanup.h"
#include "conformance/kubelet/pod.h"

/* Variables and annotations are maps: within one answer protobuf-go keeps the last value of a key. */
static void add_answer(struct grant_merge *merge, bool windows, const struct kubelet_answer *answer)
{
	const V1beta1__ContainerAllocateResponse *response = answer->response;
	(void)grant_merge_from(merge, answer->resource);
	for (size_t i = 0; i < response->n_envs; i++)
		(void)grant_merge_add(merge, GRANT_ENV,
				      (struct grant_entry){.name = response->envs[i]->key,
							   .value = response->envs[i]->value});
	for (size_t i = 0; i < response->n_devices; i++)
		(void)grant_merge_add(
			merge, GRANT_DEVICE,
			(struct grant_entry){.container_path = response->devices[i]->container_path,
					     .host_path = response->devices[i]->host_path,
					     .permissions = response->devices[i]->permissions});
	for (size_t i = 0; i < response->n_mounts; i++)
		(void)grant_merge_add(
			merge, GRANT_MOUNT,
			(struct grant_entry){.container_path = response->mounts[i]->container_path,
					     .host_path = response->mounts[i]->host_path,
					     .read_only = response->mounts[i]->read_only != 0});
	for (size_t i = 0; i < response->n_annotations; i++)
		(void)grant_merge_add(
			merge, GRANT_ANNOTATION,
			(struct grant_entry){.name = response->annotations[i]->key,
					     .value = response->annotations[i]->value});
	for (size_t i = 0; i < response->n_cdi_devices; i++) {
		const struct grant_entry device = {.name = response->cdi_devices[i]->name};
		if (windows)
			(void)grant_merge_drop(merge, GRANT_CDI_DEVICE, &device);
		else
			(void)grant_merge_add(merge, GRANT_CDI_DEVICE, device);
	}
}

int kubelet_merge(bool windows, const struct kubelet_answer *answers, size_t count,
		  struct grant *out, struct error *err)
{
	struct grant_merge merge CLEANUP_GRANT_MERGE = {.out = out, .err = err};
	*out = (struct grant){0};
	for (size_t i = 0; i < count; i++)
		add_answer(&merge, windows, &answers[i]);
	return 0;
}
