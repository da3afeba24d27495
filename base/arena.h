/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Memory that is freed all at once, such as everything that a snapshot owns. When memory runs out the
 * arena remembers it, strings become "" and arrays NULL; one check of `failed` at the end is enough.
 */

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	bool failed;
};

/* Zeroed memory, aligned for any type. NULL: out of memory. */
void *arena_allocate(struct arena *arena, size_t size);

/* A copy of `string`; "" for NULL and when memory ran out. */
const char *arena_string(struct arena *arena, const char *string);
const char *arena_format(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
const char *arena_vformat(struct arena *arena, const char *format, va_list args) PRINTF_LIKE(2, 0);

/* Room for one more element after the `count` elements of an array that was grown only by this
 * function: `items`, or a larger zero-ended copy of it. NULL: out of memory, `items` stays
 * valid. */
void *arena_grow(struct arena *arena, void *items, size_t count, size_t element_size);

void arena_free(struct arena *arena);
