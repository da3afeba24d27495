/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Room for one more element, and an end mark after it, behind the `count` elements of a malloc()
 * array that only this function has grown: `items`, or its new place. NULL: out of memory, `items`
 * stays valid. */
void *array_grow(void *items, size_t count, size_t element_size);
