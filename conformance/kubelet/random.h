/* SPDX-License-Identifier: MIT */
#pragma once

/* Reproducible random order (SplitMix64): where the kubelet's order is that of a Go map, ours is
 * that of a seed. */

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

uint64_t random_next(struct random *random);
uint64_t random_below(struct random *random, uint64_t limit); /* 0 when limit is 0 */

/* Fisher-Yates over an array of borrowed strings. */
void random_shuffle(struct random *random, const char **items, size_t count);
