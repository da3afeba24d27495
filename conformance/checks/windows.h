/* SPDX-License-Identifier: MIT */
#pragma once

/* What the checks of the suite "windows" share. */

#include "conformance/checks/allocate.h"

/* Calls `judge` with the answer for each healthy id of each resource, one id at a time. */
void windows_each_answer(struct check_run *run,
			 void (*judge)(struct rig *rig, const char *id,
				       const V1beta1__ContainerAllocateResponse *response,
				       void *user),
			 void *user);

/* Bodies of the checks that look at mounts (windows_mounts.c). */
check_body windows_mount_targets, windows_mount_sources;
