/* SPDX-License-Identifier: MIT */
#pragma once

/* How much of a device's memory containers used under a limit of the controller "dmem"
 * (containers/inspect/dmem.h). */

#include "conformance/runner/check.h"

#include <stdint.h>

struct device_memory {
	const char *label; /* of the device */
	const char *region;
	uint64_t capacity;    /* bytes */
	uint64_t used;	      /* by a container without a limit, in the midst of its work */
	uint64_t set, read;   /* the limit that was set, and the limit that the kernel reports */
	uint64_t used_within; /* by a container that needs as much as `used` */
	const char *end;      /* the outcome of that work: "ok", or why not */
};

/* Records that the limit holds, and notes how a container ended that needs more. Unsupported: the kernel
 * charges nothing to the group, so nothing can be limited. */
void device_memory_judge(struct check_run *run, const struct device_memory *seen);
