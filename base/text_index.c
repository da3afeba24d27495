/* SPDX-License-Identifier: MIT */
#include "base/text_index.h"
#include "base/memory.h"

#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { CAPACITY_FIRST = 64 }; /* a power of two; at most half of the slots are in use */

static unsigned char key[crypto_shorthash_KEYBYTES];

static void draw_key(void)
{
	randombytes_buf(key, sizeof(key));
}

static uint64_t hash(const char *string)
{
	static uv_once_t drawn = UV_ONCE_INIT; /* threads read reports */
	uint64_t value = 0;
	uv_once(&drawn, draw_key);
	(void)crypto_shorthash((unsigned char *)&value, (const unsigned char *)string,
			       strlen(string), key);
	return value;
}

/* The slot that holds the string, or the free one where it belongs. */
static struct text_index_slot *slot_of(const struct text_index *index, const char *string)
{
	size_t place = (size_t)hash(string) & (index->capacity - 1);
	while (index->slots[place].string != NULL &&
	       strcmp(index->slots[place].string, string) != 0)
		place = (place + 1) & (index->capacity - 1);
	return &index->slots[place];
}

size_t text_index_put(struct text_index *index, const char *string, size_t number)
{
	if (index->count >= index->capacity / 2) {
		struct text_index larger = {.count = index->count,
					    .capacity = index->capacity == 0 ? CAPACITY_FIRST
									     : index->capacity * 2};
		larger.slots = memory_allocate(larger.capacity, sizeof(*larger.slots));
		for (size_t i = 0; i < index->capacity; i++) {
			if (index->slots[i].string != NULL)
				*slot_of(&larger, index->slots[i].string) = index->slots[i];
		}
		free(index->slots);
		*index = larger;
	}
	struct text_index_slot *slot = slot_of(index, string);
	if (slot->string == NULL) {
		*slot = (struct text_index_slot){string, number};
		index->count++;
	}
	return slot->number;
}

bool text_index_get(const struct text_index *index, const char *string, size_t *found)
{
	const struct text_index_slot *slot = index->count > 0 ? slot_of(index, string) : NULL;
	if (slot == NULL || slot->string == NULL)
		return false;
	*found = slot->number;
	return true;
}

void text_index_free(struct text_index *index)
{
	free(index->slots);
	*index = (struct text_index){0};
}
