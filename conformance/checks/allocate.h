/* SPDX-License-Identifier: MIT */
#pragma once

/* What the checks of the suite "allocate" share. */

#include "conformance/checks/rig.h"

enum {
	ALLOCATE_TOGETHER_MAX = 64, /* ids in one call */
	ALLOCATE_EACH_MAX = 256,    /* ids that are tested one by one */
};

/* One Allocate call with these ids. *out is the response, NULL unless the plugin answered OK; the
 * reply is freed by the caller. False: no answer at all, recorded. */
bool allocate_call(struct rig *rig, const char *resource, const char *const *ids, size_t count,
		   struct kubelet_reply *reply, const V1beta1__AllocateResponse **out);

/* Allocates and records that it worked and holds a container response. Returns that response or
 * NULL; it belongs to the reply, which the caller frees. */
const V1beta1__ContainerAllocateResponse *allocate_expect(struct rig *rig, const char *resource,
							  const char *const *ids, size_t count,
							  const char *what,
							  struct kubelet_reply *reply);

/* As allocate_expect() for ids of several devices. On Windows a plugin may refuse these, saying
 * why: kubelets up to 1.36 would hand only the first device on. NULL then, with a note. */
const V1beta1__ContainerAllocateResponse *
allocate_expect_together(struct rig *rig, const char *resource, const char *const *ids,
			 size_t count, const char *what, struct kubelet_reply *reply);

/* Calls `judge` for each resource of a plugin that is ready, with its healthy ids. */
void allocate_each(struct check_run *run, void (*judge)(struct rig *rig, const char *resource,
							const struct text_list *ids));

/* How many of the ids to test one by one, spread over all; what is left out is noted. */
size_t allocate_sample(struct rig *rig, const char *resource, const struct text_list *ids);

/* The id with this index of a sample of `count`. */
char **allocate_sampled(const struct text_list *ids, size_t count, size_t index);

/* Do two answers mean the same? Their lists are sorted for it. */
bool allocate_is_same(const V1beta1__ContainerAllocateResponse *first,
		      const V1beta1__ContainerAllocateResponse *second);

/* Records that two answers mean the same; their lists are sorted for it. NULL on either side:
 * recorded before. */
void allocate_expect_same(struct rig *rig, const char *what,
			  const V1beta1__ContainerAllocateResponse *first,
			  const V1beta1__ContainerAllocateResponse *second);

/* Bodies of the checks that look into the answer (allocate_answer.c). */
check_body allocate_paths_exist, allocate_unique_paths, allocate_read_only;
