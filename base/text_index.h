/* SPDX-License-Identifier: MIT */
#pragma once

/* Finds repeated strings: a hash table with a random key, because the strings are often
 * untrusted. */

#include <stdbool.h>
#include <stddef.h>

struct text_index_slot {
	const char *string; /* NULL: free */
	size_t number;
};

/* Empty when zeroed. Strings are borrowed until text_index_free(). */
struct text_index {
	struct text_index_slot *slots;
	size_t count, capacity;
};

/* Returns the number with which `string` was first added: `number` if it is new. */
size_t text_index_put(struct text_index *index, const char *string, size_t number);
/* The number of a string; false: not found. */
bool text_index_get(const struct text_index *index, const char *string, size_t *found);
void text_index_free(struct text_index *index);

#define CLEANUP_TEXT_INDEX __attribute__((cleanup(text_index_free)))
