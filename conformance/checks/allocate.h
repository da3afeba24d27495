/* SPDX-License-Identifier: MIT */
#pragma once

/* Answers of Allocate, recorded as they come: what the suites "allocate" and "windows" share. */

#include "conformance/checks/rig.h"

/* Allocates and records that it worked and holds a container response. Returns that response or
 * NULL; it belongs to the reply, which the caller frees. On Windows a plugin may refuse several
 * devices in one call, saying why, since kubelets up to 1.36 would hand only the first one on: NULL
 * then, with a note. */
const V1beta1__ContainerAllocateResponse *allocate_expect(struct rig *rig, const char *resource,
							  const char *const *ids, size_t count,
							  const char *what,
							  struct rpc_answer *reply);

/* The same for all ids of the resource in one call, up to a number. */
const V1beta1__ContainerAllocateResponse *
allocate_together(struct rig *rig, const struct rig_item *item, struct rpc_answer *reply);

/* Calls `judge` with the answer for each id, one by one; of many ids for some, spread over all,
 * which a note tells. */
void allocate_for_each(struct rig *rig, const struct rig_item *item, check_judge *judge);

/* Do two answers mean the same? Their lists are sorted for it. */
bool allocate_is_same(const V1beta1__ContainerAllocateResponse *first,
		      const V1beta1__ContainerAllocateResponse *second);

/* Records that two answers mean the same; their lists are sorted for it. NULL on either side:
 * recorded before. */
void allocate_expect_same(struct rig *rig, const char *what,
			  const V1beta1__ContainerAllocateResponse *first,
			  const V1beta1__ContainerAllocateResponse *second);

/* Judges that look into the answer (allocate_answer.c), for each resource. */
check_judge allocate_paths_exist, allocate_unique_paths, allocate_read_only;

/* Bodies of allocate.cdi-*. Where no answer names a CDI device they do not apply. */
void allocate_cdi_resolves(struct check_run *run);
void allocate_cdi_specs(struct check_run *run);
void allocate_cdi_files(struct check_run *run);
void allocate_cdi_agrees(struct check_run *run);
void allocate_cdi_one_device(struct check_run *run);
