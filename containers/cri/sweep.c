/* SPDX-License-Identifier: MIT */
#include "containers/cri/sweep.h"

#include "base/cleanup.h"

#include <string.h>

/* The two labels as a selector; protobuf-c wants pointers to entries that are not const. */
struct sweep_selector {
	Runtime__V1__PodSandboxFilter__LabelSelectorEntry sandbox[2];
	Runtime__V1__PodSandboxFilter__LabelSelectorEntry *sandbox_entries[2];
	Runtime__V1__ContainerFilter__LabelSelectorEntry container[2];
	Runtime__V1__ContainerFilter__LabelSelectorEntry *container_entries[2];
	size_t count;
};

static void sweep_select(struct sweep_selector *selector, const char *key, const char *value)
{
	size_t at = selector->count++;

	runtime__v1__pod_sandbox_filter__label_selector_entry__init(&selector->sandbox[at]);
	memcpy(&selector->sandbox[at].key, &key, sizeof(key));
	memcpy(&selector->sandbox[at].value, &value, sizeof(value));
	selector->sandbox_entries[at] = &selector->sandbox[at];
	runtime__v1__container_filter__label_selector_entry__init(&selector->container[at]);
	memcpy(&selector->container[at].key, &key, sizeof(key));
	memcpy(&selector->container[at].value, &value, sizeof(value));
	selector->container_entries[at] = &selector->container[at];
}

/* Both steps are tried; the first failure counts. */
static void sweep_keep(int rc, const struct error *one, int *result, struct error *err)
{
	if (rc < 0 && *result == 0)
		*result = error_copy(err, one);
}

static int sweep_containers(struct cri *cri, struct sweep_selector *selector, size_t *count,
			    struct error *err)
{
	Runtime__V1__ContainerFilter filter = {0};
	Runtime__V1__ListContainersResponse *list CLEANUP_CRI_REPLY = NULL;
	int result = 0;

	runtime__v1__container_filter__init(&filter);
	filter.label_selector = selector->container_entries;
	filter.n_label_selector = selector->count;
	result = cri_list_containers_wait(cri, &filter, &list, err);
	for (size_t i = 0; list != NULL && i < list->n_containers; i++) {
		const char *id = list->containers[i]->id;
		struct error one = {0};

		(*count)++;
		sweep_keep(cri_stop_container_wait(cri, id, 0, &one), &one, &result, err);
		sweep_keep(cri_remove_container_wait(cri, id, &one), &one, &result, err);
	}
	return result;
}

static int sweep_sandboxes(struct cri *cri, struct sweep_selector *selector, size_t *count,
			   struct error *err)
{
	Runtime__V1__PodSandboxFilter filter = {0};
	Runtime__V1__ListPodSandboxResponse *list CLEANUP_CRI_REPLY = NULL;
	int result = 0;

	runtime__v1__pod_sandbox_filter__init(&filter);
	filter.label_selector = selector->sandbox_entries;
	filter.n_label_selector = selector->count;
	result = cri_list_pod_sandbox_wait(cri, &filter, &list, err);
	for (size_t i = 0; list != NULL && i < list->n_items; i++) {
		const char *id = list->items[i]->id;
		struct error one = {0};

		(*count)++;
		sweep_keep(cri_stop_pod_sandbox_wait(cri, id, &one), &one, &result, err);
		sweep_keep(cri_remove_pod_sandbox_wait(cri, id, &one), &one, &result, err);
	}
	return result;
}

int cri_sweep(struct cri *cri, const char *run_id, const char *check_id, struct cri_swept *swept,
	      struct error *err)
{
	struct sweep_selector selector = {0};
	struct cri_swept counts = {0};
	struct error one = {0};
	int result = 0;

	/* An empty selector would match everything in the runtime. */
	if (run_id == NULL || run_id[0] == '\0')
		return error_set(err, ERROR_ARGUMENT, "sweep without a run id");
	sweep_select(&selector, CRI_LABEL_RUN, run_id);
	if (check_id != NULL)
		sweep_select(&selector, CRI_LABEL_CHECK, check_id);
	sweep_keep(sweep_containers(cri, &selector, &counts.containers, &one), &one, &result, err);
	sweep_keep(sweep_sandboxes(cri, &selector, &counts.sandboxes, &one), &one, &result, err);
	if (swept != NULL)
		*swept = counts;
	return result;
}
