/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The heap of a program that links this, C library and shared libraries included, with a place at
 * which memory runs out. For glibc without sanitizers, and for one thread.
 */

#include <stdbool.h>
#include <stddef.h>

enum allocator_mode {
	ALLOCATOR_COUNTS,     /* nothing fails */
	ALLOCATOR_FAILS_ONCE, /* one allocation fails */
	ALLOCATOR_FAILS_FROM, /* that one and all behind it fail */
};

/* From now on allocations are counted, from 1, and number `at` fails as `mode` says. */
void allocator_arm(enum allocator_mode mode, size_t at);

/* Nothing fails any more. Returns the allocations since allocator_arm(). */
size_t allocator_disarm(void);

/* Allocations that were not freed yet, since the program began. */
long allocator_live(void);
