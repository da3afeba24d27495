/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SIZE = 16 * 1024, FIRST_CAPACITY = 4 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	max_align_t data[];
};

void *arena_allocate(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->chunks;
	if (size > SIZE_MAX / 2) {
		arena->failed = true;
		return NULL;
	}
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (chunk == NULL || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
		chunk = memory_allocate(1, sizeof(*chunk) + room);
		if (chunk == NULL) {
			arena->failed = true;
			return NULL;
		}
		chunk->size = room;
		chunk->next = arena->chunks;
		arena->chunks = chunk;
	}
	void *memory = (char *)chunk->data + chunk->used;
	chunk->used += size;
	return memory;
}

const char *arena_string(struct arena *arena, const char *string)
{
	if (string == NULL || string[0] == '\0')
		return "";
	size_t size = strlen(string) + 1;
	char *copy = arena_allocate(arena, size);
	return copy != NULL ? memcpy(copy, string, size) : "";
}

const char *arena_format(struct arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = arena_vformat(arena, format, args);
	va_end(args);
	return text;
}

const char *arena_vformat(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text = length < 0 ? NULL : arena_allocate(arena, (size_t)length + 1);
	if (text == NULL)
		return "";
	(void)vsnprintf(text, (size_t)length + 1, format, args);
	return text;
}

void *arena_grow(struct arena *arena, void *items, size_t count, size_t element_size)
{
	/* One element more than the capacity is allocated, so the array always ends with a zero. */
	bool full = count == 0 || (count >= FIRST_CAPACITY && (count & (count - 1)) == 0);
	if (!full)
		return items;
	size_t capacity = count == 0 ? FIRST_CAPACITY : 2 * count;
	if (capacity > SIZE_MAX / 2 / element_size - 1) {
		arena->failed = true;
		return NULL;
	}
	void *larger = arena_allocate(arena, (capacity + 1) * element_size);
	if (larger != NULL && count > 0)
		memcpy(larger, items, count * element_size);
	return larger;
}

void arena_free(struct arena *arena)
{
	while (arena->chunks != NULL) {
		struct arena_chunk *next = arena->chunks->next;
		free(arena->chunks);
		arena->chunks = next;
	}
}
