/* SPDX-License-Identifier: MIT */
#pragma once

/* Times of one thing, measured many times. */

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct samples {
	uint64_t *ns;
	size_t count;
	size_t capacity;
};

#define CLEANUP_SAMPLES __attribute__((cleanup(samples_free)))

int samples_reserve(struct samples *samples, size_t capacity, struct error *err);
void samples_add(struct samples *samples, uint64_t ns); /* dropped beyond the reserved capacity */

/* The value that `percent` of the samples do not exceed, in microseconds; 0 without samples. Sorts.
 */
double samples_percentile_us(struct samples *samples, double percent);
void samples_free(struct samples *samples);
