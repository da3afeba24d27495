/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Room for one more element behind the `count` elements of an array that malloc() keeps and that
 * was grown only by this function, and for an end mark behind that: `items`, or where they have
 * moved to. NULL: out of memory, `items` stays valid. */
void *array_grow(void *items, size_t count, size_t element_size);
