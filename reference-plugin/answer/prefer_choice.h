/* SPDX-License-Identifier: MIT */
#pragma once

/* The choice behind prefer(): how many replicas to take from which device. */

#include "reference-plugin/answer/prefer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prefer_device {
	int32_t numa_node;  /* or DISCOVERY_UNKNOWN, which counts as one node more */
	uint32_t available; /* replicas that may still be taken */
	uint32_t taken;	    /* replicas in the answer; at first those that must be included */
};

/* Moves `size` replicas, or as many as there are, from `available` to `taken`. */
void prefer_choose(struct prefer_device *devices, size_t count, size_t size,
		   enum prefer_policy policy);

/* The same from one device alone, the one on which something is taken already. False, and nothing
 * is moved, when no device has enough or several are taken from. */
bool prefer_choose_one(struct prefer_device *devices, size_t count, size_t size,
		       enum prefer_policy policy);
