/* SPDX-License-Identifier: MIT */
#pragma once

/* The devices of containers (allocation.c), how they are chosen (choice.c), and the file that keeps
 * them (checkpoint.c). */

#include "conformance/kubelet/id_set.h"
#include "conformance/kubelet/pod.h"
#include "conformance/kubelet/state.h"

/* One container's devices of one resource, or those that later containers of its pod may reuse. */
struct allocation {
	struct allocation *next; /* oldest first */
	char *pod, *container, *resource;
	struct id_set ids;
	V1beta1__ContainerAllocateResponse *response; /* the cached one; later ones are ignored */
};

struct allocation *allocation_find(const struct kubelet *kubelet, const char *pod,
				   const char *container, const char *resource);
/* Takes ownership of the response, copies the rest. */
void allocation_add(struct kubelet *kubelet, const char *pod, const char *container,
		    const char *resource, const struct id_set *ids,
		    V1beta1__ContainerAllocateResponse *response);
/* `container` NULL: all of the pod. If one was removed, devices in use are counted again
 * (resources_recount()). */
void allocation_remove(struct kubelet *kubelet, const char *pod, const char *container);
void allocation_in_use(const struct kubelet *kubelet, const char *resource, struct id_set *ids);
void allocations_free(struct kubelet *kubelet);

/* Devices of the pod's init containers that its later containers get first; NULL: none. */
const struct id_set *reusable_ids(const struct kubelet *kubelet, const char *pod,
				  const char *resource);
/* Before a container of the pod is admitted: forgets what other pods could reuse. */
void reusable_keep(struct kubelet *kubelet, const char *pod);
/* After a container of the pod was admitted: its devices become reusable, or are no longer. */
void reusable_update(struct kubelet *kubelet, const struct kubelet_container *container);

/* Fills `ids`; an empty set means that the container has its devices already. A refusal is
 * ERROR_REMOTE with the kubelet's wording. */
int choice_make(struct kubelet *kubelet, const struct kubelet_container *container,
		const struct kubelet_limit *limit, uint64_t timeout_ms, struct id_set *ids,
		struct error *err);

void checkpoint_write(struct kubelet *kubelet);
void checkpoint_read(struct kubelet *kubelet);
