/* SPDX-License-Identifier: MIT */
#pragma once

/* What answers of Allocate hand out: files and device nodes of this node, and CDI devices that its Specs define. They
 * must stay as long as a container may start with the answer. */

#include "base/cleanup.h"
#include "conformance/checks/rig.h"

/* Empty when zeroed. */
struct handed_out {
	struct text_list paths, cdi;
};

/* Adds what the answer hands out. `present`: without what is missing at this time. */
void handed_out_add(const struct rig *rig, const V1beta1__ContainerAllocateResponse *answer,
		    bool present, struct handed_out *out);

/* The files that it mounts only. */
void handed_out_add_mounts(const V1beta1__ContainerAllocateResponse *answer, bool present,
			   struct text_list *paths);

/* Records whether all of it is present; `when`: "after the plugin's end". */
void handed_out_expect(struct rig *rig, const struct handed_out *out, const char *when);

void handed_out_free(struct handed_out *out);
#define CLEANUP_HANDED_OUT CLEANUP(handed_out_free)
