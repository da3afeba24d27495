/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "conformance/kubelet/pods.h"
#include "conformance/kubelet/resources.h"

#include <string.h>

/* pod_devices.go */

/* `pod` NULL: any; `container` NULL: any of the pod. */
static bool belongs_to(const struct allocation *allocation, const char *pod, const char *container)
{
	return (pod == NULL || strcmp(allocation->pod, pod) == 0) &&
	       (container == NULL || strcmp(allocation->container, container) == 0);
}

static struct allocation *find(struct allocation *list, const char *pod, const char *container,
			       const char *resource)
{
	while (list != NULL &&
	       (!belongs_to(list, pod, container) || strcmp(list->resource, resource) != 0))
		list = list->next;
	return list;
}

struct allocation *allocation_find(const struct kubelet *kubelet, const char *pod,
				   const char *container, const char *resource)
{
	return find(kubelet->allocations, pod, container, resource);
}

/* A new one at the end of the list. */
static struct allocation *append(struct allocation **list, const char *pod, const char *container,
				 const char *resource)
{
	struct allocation *allocation = memory_allocate(1, sizeof(*allocation));
	allocation->pod = memory_copy(pod);
	allocation->container = memory_copy(container);
	allocation->resource = memory_copy(resource);
	while (*list != NULL)
		list = &(*list)->next;
	*list = allocation;
	return allocation;
}

static bool drop(struct allocation **link, const char *pod, const char *container)
{
	bool dropped = false;
	while (*link != NULL) {
		struct allocation *allocation = *link;
		if (!belongs_to(allocation, pod, container)) {
			link = &allocation->next;
			continue;
		}
		*link = allocation->next;
		free(allocation->pod);
		free(allocation->container);
		free(allocation->resource);
		id_set_clear(&allocation->ids);
		if (allocation->response != NULL)
			v1beta1__container_allocate_response__free_unpacked(allocation->response,
									    NULL);
		free(allocation);
		dropped = true;
	}
	return dropped;
}

void allocation_add(struct kubelet *kubelet, const char *pod, const char *container,
		    const char *resource, const struct id_set *ids,
		    V1beta1__ContainerAllocateResponse *response)
{
	struct allocation *allocation = append(&kubelet->allocations, pod, container, resource);
	allocation->response = response;
	id_set_add(&allocation->ids, ids);
}

void allocation_remove(struct kubelet *kubelet, const char *pod, const char *container)
{
	if (drop(&kubelet->allocations, pod, container))
		resources_recount(kubelet);
}

void allocation_in_use(const struct kubelet *kubelet, const char *resource, struct id_set *ids)
{
	const struct resource *known = resource_find(kubelet, resource);
	if (known != NULL)
		id_set_add(ids, &known->leaked);
	chain_each (allocation, kubelet->allocations) {
		if (strcmp(allocation->resource, resource) == 0)
			id_set_add(ids, &allocation->ids);
	}
}

const struct id_set *reusable_ids(const struct kubelet *kubelet, const char *pod,
				  const char *resource)
{
	const struct allocation *reusable = find(kubelet->reusables, pod, NULL, resource);
	return reusable == NULL ? NULL : &reusable->ids;
}

void reusable_keep(struct kubelet *kubelet, const char *pod)
{
	if (kubelet->reusables != NULL && strcmp(kubelet->reusables->pod, pod) != 0)
		(void)drop(&kubelet->reusables, NULL, NULL);
}

/* manager.go, Allocate: an init container's devices become reusable; those of an application
 * container, or a restartable init container, are no longer reusable. */
void reusable_update(struct kubelet *kubelet, const struct kubelet_container *container)
{
	chain_each (each, kubelet->allocations) {
		if (!belongs_to(each, container->pod, container->name))
			continue;
		struct allocation *reusable =
			find(kubelet->reusables, container->pod, NULL, each->resource);
		if (reusable == NULL)
			reusable = append(&kubelet->reusables, container->pod, "", each->resource);
		if (container->kind == KUBELET_CONTAINER_INIT)
			id_set_add(&reusable->ids, &each->ids);
		else
			id_set_remove(&reusable->ids, &each->ids);
	}
}

void allocations_free(struct kubelet *kubelet)
{
	(void)drop(&kubelet->reusables, NULL, NULL);
	(void)drop(&kubelet->allocations, NULL, NULL);
}

void kubelet_remove_pod(struct kubelet *kubelet, const char *pod)
{
	allocation_remove(kubelet, pod, NULL);
	(void)drop(&kubelet->reusables, pod, NULL);
	checkpoint_write(kubelet);
}
