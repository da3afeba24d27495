/* SPDX-License-Identifier: MIT */
#include "conformance/checks/allocate.h"

#include "base/clock.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

bool allocate_call(struct rig *rig, const char *resource, const char *const *ids, size_t count,
		   struct kubelet_reply *reply, const V1beta1__AllocateResponse **out)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_call_allocate(kubelet_resource_plugin(rig->kubelet, resource), ids, count,
				       RIG_CALL_MS, reply, &err);

	rig_waited(rig, start);
	*out = rc == 0 ? (const V1beta1__AllocateResponse *)reply->reply : NULL;
	return rc == 0 || check_expect_ok(rig->run, rc, "Allocate is answered", &err);
}

static const V1beta1__ContainerAllocateResponse *
allocate_expect_single(struct rig *rig, const char *what, const struct kubelet_reply *reply,
		       const V1beta1__AllocateResponse *response)
{
	if (!check_expect(rig->run, response != NULL, what, "OK", "%s%s%s",
			  rpc_code_name(reply->code), reply->message[0] != '\0' ? ": " : "",
			  reply->message))
		return NULL;
	/* The kubelet takes the first and has no use for more. */
	if (response->n_container_responses == 0) {
		(void)check_expect(rig->run, false, "container responses", "one", "none");
		return NULL;
	}
	return response->container_responses[0];
}

const V1beta1__ContainerAllocateResponse *allocate_expect(struct rig *rig, const char *resource,
							  const char *const *ids, size_t count,
							  const char *what,
							  struct kubelet_reply *reply)
{
	const V1beta1__AllocateResponse *response = NULL;

	if (!allocate_call(rig, resource, ids, count, reply, &response))
		return NULL;
	return allocate_expect_single(rig, what, reply, response);
}

const V1beta1__ContainerAllocateResponse *
allocate_expect_together(struct rig *rig, const char *resource, const char *const *ids,
			 size_t count, const char *what, struct kubelet_reply *reply)
{
	const V1beta1__AllocateResponse *response = NULL;

	if (!allocate_call(rig, resource, ids, count, reply, &response))
		return NULL;
	if (!rig_is_windows(rig) || count < 2 || response != NULL)
		return allocate_expect_single(rig, what, reply, response);
	if (check_expect(rig->run, reply->message[0] != '\0', what,
			 "OK, or a refusal that says why", "%s without a message",
			 rpc_code_name(reply->code)))
		check_note(rig->run, "%s: refused, which Windows allows: %s", what, reply->message);
	return NULL;
}

void allocate_each(struct check_run *run, void (*judge)(struct rig *rig, const char *resource,
							const struct text_list *ids))
{
	struct rig *rig = rig_ready(run);

	for (size_t i = 0; rig != NULL && i < rig->resources.count; i++) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};

		if (!rig_healthy_ids(rig, rig->resources.items[i], &ids))
			return;
		judge(rig, rig->resources.items[i], &ids);
	}
}

size_t allocate_sample(struct rig *rig, const char *resource, const struct text_list *ids)
{
	size_t count = ids->count < ALLOCATE_EACH_MAX ? ids->count : ALLOCATE_EACH_MAX;

	if (count < ids->count)
		check_note(rig->run, "%zu of the %zu ids of %s were tested", count, ids->count,
			   resource);
	return count;
}

char **allocate_sampled(const struct text_list *ids, size_t count, size_t index)
{
	return &ids->items[index * ids->count / count];
}

/* Packed bytes of a response: equal answers pack to equal bytes. NULL: out of memory. */
static uint8_t *allocate_pack(const V1beta1__ContainerAllocateResponse *response, size_t *size)
{
	*size = v1beta1__container_allocate_response__get_packed_size(response);
	uint8_t *bytes = malloc(*size + 1);

	if (bytes != NULL)
		(void)v1beta1__container_allocate_response__pack(response, bytes);
	return bytes;
}

static int allocate_compare_mounts(const void *a, const void *b)
{
	return strcmp((*(V1beta1__Mount *const *)a)->container_path,
		      (*(V1beta1__Mount *const *)b)->container_path);
}

/* On Windows devices have no container path. */
static int allocate_compare_nodes(const void *a, const void *b)
{
	const V1beta1__DeviceSpec *left = *(V1beta1__DeviceSpec *const *)a;
	const V1beta1__DeviceSpec *right = *(V1beta1__DeviceSpec *const *)b;
	int order = strcmp(left->container_path, right->container_path);

	return order != 0 ? order : strcmp(left->host_path, right->host_path);
}

static int allocate_compare_annotations(const void *a, const void *b)
{
	return strcmp((*(V1beta1__ContainerAllocateResponse__AnnotationsEntry *const *)a)->key,
		      (*(V1beta1__ContainerAllocateResponse__AnnotationsEntry *const *)b)->key);
}

static int allocate_compare_cdi_devices(const void *a, const void *b)
{
	return strcmp((*(V1beta1__CDIDevice *const *)a)->name,
		      (*(V1beta1__CDIDevice *const *)b)->name);
}

static int allocate_compare_envs(const void *a, const void *b)
{
	return strcmp((*(V1beta1__ContainerAllocateResponse__EnvsEntry *const *)a)->key,
		      (*(V1beta1__ContainerAllocateResponse__EnvsEntry *const *)b)->key);
}

static void allocate_sort(void *pointers, size_t count, int (*compare)(const void *, const void *))
{
	if (count > 1)
		qsort(pointers, count, sizeof(void *), compare);
}

/* A response is a set: its members in any order mean the same. */
static void allocate_normalise(const V1beta1__ContainerAllocateResponse *response)
{
	allocate_sort(response->mounts, response->n_mounts, allocate_compare_mounts);
	allocate_sort(response->devices, response->n_devices, allocate_compare_nodes);
	allocate_sort(response->envs, response->n_envs, allocate_compare_envs);
	allocate_sort(response->annotations, response->n_annotations, allocate_compare_annotations);
	allocate_sort(response->cdi_devices, response->n_cdi_devices, allocate_compare_cdi_devices);
}

bool allocate_is_same(const V1beta1__ContainerAllocateResponse *first,
		      const V1beta1__ContainerAllocateResponse *second)
{
	size_t sizes[2] = {0, 0};

	allocate_normalise(first);
	allocate_normalise(second);
	uint8_t *left CLEANUP_FREE = allocate_pack(first, &sizes[0]);
	uint8_t *right CLEANUP_FREE = allocate_pack(second, &sizes[1]);

	return left != NULL && right != NULL && sizes[0] == sizes[1] &&
	       memcmp(left, right, sizes[0]) == 0;
}

void allocate_expect_same(struct rig *rig, const char *what,
			  const V1beta1__ContainerAllocateResponse *first,
			  const V1beta1__ContainerAllocateResponse *second)
{
	if (first == NULL || second == NULL)
		return;
	bool same = allocate_is_same(first, second);

	(void)check_expect(rig->run, same, what, "the same answer", "%s",
			   same ? "the same answer" : "another answer");
}
