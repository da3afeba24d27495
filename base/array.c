/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/memory.h"

#include <stdbool.h>

enum { FIRST_CAPACITY = 8 };

void *array_grow(void *items, size_t count, size_t element_size)
{
	/* The capacity follows from the count: the next power of two. */
	bool full = count == 0 || (count >= FIRST_CAPACITY && (count & (count - 1)) == 0);
	size_t capacity = count == 0 ? FIRST_CAPACITY : 2 * count;
	return full ? memory_resize(items, capacity + 1, element_size) : items;
}
