/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "conformance/kubelet/internal.h"

#include <string.h>

/* Which container holds which devices (pod_devices.go). */

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

static int allocation_fill(struct allocation *allocation, const struct kubelet_allocation *seen,
			   struct error *err)
{
	allocation->pod = strdup(seen->pod);
	allocation->container = strdup(seen->container);
	allocation->resource = strdup(seen->resource);
	allocation->response = copy_response(seen->response);
	if (allocation->pod == NULL || allocation->container == NULL ||
	    allocation->resource == NULL || allocation->response == NULL)
		return error_memory(err);
	int rc = id_set_add_strings(&allocation->ids, seen->ids, seen->id_count, err);
	allocation->seen = *seen;
	allocation->seen.pod = allocation->pod;
	allocation->seen.container = allocation->container;
	allocation->seen.resource = allocation->resource;
	allocation->seen.ids = (const char *const *)allocation->ids.items;
	allocation->seen.id_count = allocation->ids.count;
	allocation->seen.response = allocation->response;
	return rc;
}

int allocation_add(struct kubelet *kubelet, const struct kubelet_allocation *seen,
		   struct allocation **out, struct error *err)
{
	struct allocation *allocation = calloc(1, sizeof(*allocation));
	if (allocation == NULL)
		return error_memory(err);
	int rc = allocation_fill(allocation, seen, err);
	if (rc != 0) {
		allocation_free(allocation);
		return rc;
	}
	struct allocation **link = &kubelet->allocations;
	while (*link != NULL)
		link = &(*link)->next;
	*link = allocation;
	if (out != NULL)
		*out = allocation;
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

int allocation_in_use(const struct kubelet *kubelet, const char *resource, struct id_set *ids,
		      struct error *err)
{
	const struct resource *known = resource_find(kubelet, resource);
	int rc = known == NULL ? 0 : id_set_add_all(ids, &known->leaked, err);
	for (const struct allocation *allocation = kubelet->allocations;
	     rc == 0 && allocation != NULL; allocation = allocation->next)
		if (strcmp(allocation->resource, resource) == 0)
			rc = id_set_add_all(ids, &allocation->ids, err);
	return rc;
}

struct reusable *reusable_find(const struct kubelet *kubelet, const char *pod, const char *resource)
{
	struct reusable *reusable = kubelet->reusables;
	while (reusable != NULL &&
	       (strcmp(reusable->pod, pod) != 0 || strcmp(reusable->resource, resource) != 0))
		reusable = reusable->next;
	return reusable;
}

static void reusable_free(struct reusable *reusable)
{
	free(reusable->pod);
	free(reusable->resource);
	id_set_clear(&reusable->ids);
	free(reusable);
}

static int reusable_get(struct kubelet *kubelet, const char *pod, const char *resource,
			struct reusable **out, struct error *err)
{
	struct reusable *reusable = reusable_find(kubelet, pod, resource);
	if (reusable == NULL) {
		reusable = calloc(1, sizeof(*reusable));
		if (reusable == NULL)
			return error_memory(err);
		reusable->pod = strdup(pod);
		reusable->resource = strdup(resource);
		if (reusable->pod == NULL || reusable->resource == NULL) {
			reusable_free(reusable);
			return error_memory(err);
		}
		reusable->next = kubelet->reusables;
		kubelet->reusables = reusable;
	}
	*out = reusable;
	return 0;
}

/* manager.go, Allocate: an init container's devices become reusable; those of an application
 * container, and of a restartable init container, stop to be. */
int reusable_update(struct kubelet *kubelet, const struct kubelet_container *container,
		    struct error *err)
{
	int rc = 0;
	for (const struct allocation *allocation = kubelet->allocations;
	     rc == 0 && allocation != NULL; allocation = allocation->next) {
		struct reusable *reusable = NULL;
		if (!belongs_to(allocation, container->pod, container->name))
			continue;
		rc = reusable_get(kubelet, container->pod, allocation->resource, &reusable, err);
		if (rc == 0 && container->kind == KUBELET_CONTAINER_INIT)
			rc = id_set_add_all(&reusable->ids, &allocation->ids, err);
		else if (rc == 0)
			id_set_remove_all(&reusable->ids, &allocation->ids);
	}
	return rc;
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

const struct kubelet_allocation *kubelet_allocation(const struct kubelet *kubelet, const char *pod,
						    const char *container, const char *resource)
{
	const struct allocation *allocation = allocation_find(kubelet, pod, container, resource);
	return allocation == NULL ? NULL : &allocation->seen;
}

void kubelet_remove_pod(struct kubelet *kubelet, const char *pod)
{
	allocation_remove(kubelet, pod, NULL);
	reusable_remove(kubelet, pod);
	checkpoint_write(kubelet);
}
