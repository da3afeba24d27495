/* SPDX-License-Identifier: MIT */
#pragma once

/* Which strings were there already: a hash table whose key is random, since the strings are often
 * a stranger's. */

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

/* Returns the number that `string` was put in with first: `number`, when it is new. */
size_t text_index_put(struct text_index *index, const char *string, size_t number);
/* The number of a string; false: it was not put in. */
bool text_index_get(const struct text_index *index, const char *string, size_t *found);
void text_index_free(struct text_index *index);

#define CLEANUP_TEXT_INDEX __attribute__((cleanup(text_index_free)))
