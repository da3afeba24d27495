/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "conformance/kubelet/pods.h"
#include "conformance/kubelet/resources.h"

#include <string.h>

/* pod_devices.go */

static bool belongs_to(const struct allocation *allocation, const char *pod, const char *container)
{
	return strcmp(allocation->pod, pod) == 0 &&
	       (container == NULL || strcmp(allocation->container, container) == 0);
}

struct allocation *allocation_find(const struct kubelet *kubelet, const char *pod,
				   const char *container, const char *resource)
{
	struct allocation *allocation = kubelet->allocations;
	while (allocation != NULL && (!belongs_to(allocation, pod, container) ||
				      strcmp(allocation->resource, resource) != 0))
		allocation = allocation->next;
	return allocation;
}

static void allocation_free(struct allocation *allocation)
{
	free(allocation->pod);
	free(allocation->container);
	free(allocation->resource);
	id_set_clear(&allocation->ids);
	v1beta1__container_allocate_response__free_unpacked(allocation->response, NULL);
	free(allocation);
}

static V1beta1__ContainerAllocateResponse *
copy_response(const V1beta1__ContainerAllocateResponse *response)
{
	size_t size = v1beta1__container_allocate_response__get_packed_size(response);
	uint8_t *bytes CLEANUP_FREE = malloc(size + 1);
	if (bytes == NULL)
		return NULL;
	(void)v1beta1__container_allocate_response__pack(response, bytes);
	return v1beta1__container_allocate_response__unpack(NULL, size, bytes);
}

int allocation_add(struct kubelet *kubelet, const char *pod, const char *container,
		   const char *resource, const struct id_set *ids,
		   const V1beta1__ContainerAllocateResponse *response, struct error *err)
{
	struct allocation *allocation = calloc(1, sizeof(*allocation));
	struct allocation **link = &kubelet->allocations;
	if (allocation == NULL)
		return error_memory(err);
	allocation->pod = strdup(pod);
	allocation->container = strdup(container);
	allocation->resource = strdup(resource);
	allocation->response = copy_response(response);
	id_set_add(&allocation->ids, ids);
	if (allocation->pod == NULL || allocation->container == NULL ||
	    allocation->resource == NULL || allocation->response == NULL ||
	    allocation->ids.failed) {
		allocation_free(allocation);
		return error_memory(err);
	}
	while (*link != NULL)
		link = &(*link)->next;
	*link = allocation;
	return 0;
}

void allocation_remove(struct kubelet *kubelet, const char *pod, const char *container)
{
	struct allocation **link = &kubelet->allocations;
	bool removed = false;
	while (*link != NULL) {
		struct allocation *allocation = *link;
		if (!belongs_to(allocation, pod, container)) {
			link = &allocation->next;
			continue;
		}
		*link = allocation->next;
		allocation_free(allocation);
		removed = true;
	}
	if (removed)
		resources_recount(kubelet);
}

void allocation_in_use(const struct kubelet *kubelet, const char *resource, struct id_set *ids)
{
	const struct resource *known = resource_find(kubelet, resource);
	if (known != NULL)
		id_set_add(ids, &known->leaked);
	for (const struct allocation *allocation = kubelet->allocations; allocation != NULL;
	     allocation = allocation->next)
		if (strcmp(allocation->resource, resource) == 0)
			id_set_add(ids, &allocation->ids);
}

struct reusable {
	struct reusable *next;
	char *pod, *resource;
	struct id_set ids;
};

static struct reusable *reusable_find(const struct kubelet *kubelet, const char *pod,
				      const char *resource)
{
	struct reusable *reusable = kubelet->reusables;
	while (reusable != NULL &&
	       (strcmp(reusable->pod, pod) != 0 || strcmp(reusable->resource, resource) != 0))
		reusable = reusable->next;
	return reusable;
}

const struct id_set *reusable_ids(const struct kubelet *kubelet, const char *pod,
				  const char *resource)
{
	const struct reusable *reusable = reusable_find(kubelet, pod, resource);
	return reusable == NULL ? NULL : &reusable->ids;
}

static void reusable_free(struct reusable *reusable)
{
	free(reusable->pod);
	free(reusable->resource);
	id_set_clear(&reusable->ids);
	free(reusable);
}

/* NULL: out of memory. */
static struct reusable *reusable_get(struct kubelet *kubelet, const char *pod, const char *resource)
{
	struct reusable *reusable = reusable_find(kubelet, pod, resource);
	if (reusable != NULL)
		return reusable;
	reusable = calloc(1, sizeof(*reusable));
	if (reusable == NULL)
		return NULL;
	reusable->pod = strdup(pod);
	reusable->resource = strdup(resource);
	if (reusable->pod == NULL || reusable->resource == NULL) {
		reusable_free(reusable);
		return NULL;
	}
	reusable->next = kubelet->reusables;
	kubelet->reusables = reusable;
	return reusable;
}

/* manager.go, Allocate: an init container's devices become reusable; those of an application
 * container, and of a restartable init container, stop to be. */
int reusable_update(struct kubelet *kubelet, const struct kubelet_container *container,
		    struct error *err)
{
	for (const struct allocation *allocation = kubelet->allocations; allocation != NULL;
	     allocation = allocation->next) {
		if (!belongs_to(allocation, container->pod, container->name))
			continue;
		struct reusable *reusable =
			reusable_get(kubelet, container->pod, allocation->resource);
		if (reusable == NULL)
			return error_memory(err);
		if (container->kind == KUBELET_CONTAINER_INIT)
			id_set_add(&reusable->ids, &allocation->ids);
		else
			id_set_remove(&reusable->ids, &allocation->ids);
		if (reusable->ids.failed)
			return error_memory(err);
	}
	return 0;
}

static void reusable_remove(struct kubelet *kubelet, const char *pod)
{
	struct reusable **link = &kubelet->reusables;
	while (*link != NULL) {
		struct reusable *reusable = *link;
		if (pod != NULL && strcmp(reusable->pod, pod) != 0) {
			link = &reusable->next;
			continue;
		}
		*link = reusable->next;
		reusable_free(reusable);
	}
}

void allocations_free(struct kubelet *kubelet)
{
	reusable_remove(kubelet, NULL);
	while (kubelet->allocations != NULL) {
		struct allocation *allocation = kubelet->allocations;
		kubelet->allocations = allocation->next;
		allocation_free(allocation);
	}
}

void kubelet_remove_pod(struct kubelet *kubelet, const char *pod)
{
	allocation_remove(kubelet, pod, NULL);
	reusable_remove(kubelet, pod);
	checkpoint_write(kubelet);
}
