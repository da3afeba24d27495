/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The results of the work, computed on the CPU: the reference that a probe compares each element
 * with, and that the probe's caller computes again from the seed. It knows no API.
 *
 * For each element i: values[i] = mix(values[i] ^ key), and y[i] = scale * x[i] + y[i]. The integer
 * part depends on every bit of its input and cannot be applied twice or skipped unnoticed. The
 * floats are small whole numbers, so that the result is exact however a driver rounds or fuses.
 * Inputs and key follow from a seed, so that results of an earlier run are not right in this one.
 * A guard that the device must not touch follows the last element of each array.
 *
 * APIs that fill memory by a command of their own fill the elements of `values` with a pattern first;
 * the guard stays unchanged.
 *
 * DirectML has operators instead: the element-wise sum of two tensors, and the product of two
 * square matrices, of operands that follow from the seed. CUDA also counts random points in a circle
 * (kernel.h).
 */

#include "base/digest.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define WORK_SCALE 3.0f

enum {
	WORK_GUARD = 64,       /* elements */
	WORK_MATRIX = 64,      /* rows and columns of DirectML's product */
	WORK_ELEMENT_SIZE = 4, /* bytes, of each array */
};

extern const float work_poison; /* the guard after DirectML's outputs */

uint32_t work_key(uint32_t seed);

/* The element that the command that fills memory writes. */
uint32_t work_fill_pattern(uint32_t seed);

/* The input; after the end it is the guard. */
uint32_t work_input_value(uint32_t seed, size_t index);
float work_input_x(uint32_t seed, size_t index);
float work_input_y(uint32_t seed, size_t index);

/* DirectML's operands, of input 0 or 1. Eight bits: the sum of 64 products stays below 2^24, where
 * floats are exact. */
uint32_t work_operand(uint32_t seed, size_t input, size_t index);

/* The right result of one element. */
uint32_t work_expected_value(uint32_t seed, size_t index);
float work_expected_y(uint32_t seed, size_t index);

/* The index at which a value is the expected one: each value has one. */
size_t work_locate_value(uint32_t seed, uint32_t value);

/* An array of results: "values" and "y", "dxilValues" and "dxilY" of Direct3D 12's second shader; "fill"; "sum" and "product" of DirectML; "hits" of CUDA's
 * Monte Carlo (kernel.h); "pixels" of the picture (render.h), four bytes each, without gaps between
 * rows. */
struct work_array {
	const char *name;
	enum { WORK_INTEGERS, WORK_FLOATS, WORK_COLOURS } type;
	size_t guard;	 /* elements after the end that must not change */
	size_t elements; /* 0: as many as the work has */
	/* Writes element `index`, the guard's included, as it must be read back. */
	void (*expect)(uint32_t seed, size_t elements, size_t index, void *out);
};

/* NULL: there is no such array. */
const struct work_array *work_array_find(const char *name);

/* The digest of the right array, guard included, its elements little-endian. ERROR_ARGUMENT: there is
 * no such array. */
int work_expected_digest(const char *array, uint32_t seed, size_t elements, char out[DIGEST_SIZE],
			 struct error *err);
