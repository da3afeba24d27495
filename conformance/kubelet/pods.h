/* SPDX-License-Identifier: MIT */
#pragma once

/* Which container holds which devices (allocation.c), which it gets (choice.c), and the file that
 * remembers it (checkpoint.c). */

#include "conformance/kubelet/id_set.h"
#include "conformance/kubelet/pod.h"
#include "conformance/kubelet/state.h"

/* What one container got of one resource, or what of it later containers of its pod may reuse. */
struct allocation {
	struct allocation *next; /* oldest first */
	char *pod, *container, *resource;
	struct id_set ids;
	V1beta1__ContainerAllocateResponse *response; /* the cached one; later ones are ignored */
};

struct allocation *allocation_find(const struct kubelet *kubelet, const char *pod,
				   const char *container, const char *resource);
/* Takes over the response, copies the rest. ERROR_MEMORY. */
int allocation_add(struct kubelet *kubelet, const char *pod, const char *container,
		   const char *resource, const struct id_set *ids,
		   V1beta1__ContainerAllocateResponse *response, struct error *err);
/* `container` NULL: all of the pod. When something was removed, what is in use is counted again
 * (resources_recount()). */
void allocation_remove(struct kubelet *kubelet, const char *pod, const char *container);
void allocation_in_use(const struct kubelet *kubelet, const char *resource, struct id_set *ids);
void allocations_free(struct kubelet *kubelet);

/* Devices of the pod's init containers that its later containers get first; NULL: none. */
const struct id_set *reusable_ids(const struct kubelet *kubelet, const char *pod,
				  const char *resource);
/* Before a container of the pod is served: what other pods could reuse is forgotten. */
void reusable_keep(struct kubelet *kubelet, const char *pod);
/* After a container of the pod was served: its devices become reusable, or stop to be. */
int reusable_update(struct kubelet *kubelet, const struct kubelet_container *container,
		    struct error *err);

/* Fills `ids`; an empty set means that the container has its devices already. A refusal is
 * ERROR_REMOTE with the kubelet's wording. */
int choice_make(struct kubelet *kubelet, const struct kubelet_container *container,
		const struct kubelet_limit *limit, uint64_t timeout_ms, struct id_set *ids,
		struct error *err);

void checkpoint_write(struct kubelet *kubelet);
void checkpoint_read(struct kubelet *kubelet);
