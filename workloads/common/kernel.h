/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What kernels written in C compute, one element each. It is compiled for devices and for the
 * processor, where it is the reference (reference.h) and what driver doubles run: plain C without
 * a library.
 */

#include <stdint.h>

/* Avalanche of 32 bits: every input bit changes half of the output bits. Different inputs have
 * different outputs. The kernels in other languages hold the same steps (work.comp, work.cl). */
static inline uint32_t kernel_mix(uint32_t value)
{
	value ^= value >> 16;
	value *= 0x7feb352du;
	value ^= value >> 15;
	value *= 0x846ca68bu;
	value ^= value >> 16;
	return value;
}

enum {
	MONTE_CARLO_STREAMS = 16384, /* elements of the array "hits" */
	MONTE_CARLO_SAMPLES = 256,   /* points of one stream */
};

/* How many points of a stream, anywhere in the unit square, lie in the quarter of a circle of radius
 * 1: of all streams together pi / 4. A point is the middle of one of 65536 times 65536 cells; in
 * whole numbers, so that every device counts the same. */
static inline uint32_t kernel_hits(uint32_t key, uint32_t stream)
{
	uint32_t hits = 0;
	for (uint32_t i = 0; i < MONTE_CARLO_SAMPLES; i++) {
		const uint32_t point = kernel_mix((stream * MONTE_CARLO_SAMPLES + i) ^ key);
		const uint64_t x = 2u * (point >> 16) + 1u;
		const uint64_t y = 2u * (point & 0xffffu) + 1u;
		hits += x * x + y * y < (uint64_t)1 << 34 ? 1u : 0u;
	}
	return hits;
}
