/* SPDX-License-Identifier: MIT */
#pragma once

/* Reproducible random order (SplitMix64): where the kubelet's order is that of a Go map, ours is
 * that of a seed. */

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

/* Fisher-Yates over an array of pointers. */
void random_shuffle(struct random *random, void *pointers, size_t count);
