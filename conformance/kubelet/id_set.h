/* SPDX-License-Identifier: MIT */
#pragma once

/* Sets of device ids: sorted, without duplicates, owning their strings. */

#include "base/error.h"
#include "conformance/kubelet/random.h"

#include <stdbool.h>
#include <stddef.h>

struct id_set {
	char **items;
	size_t count, capacity;
};

#define CLEANUP_ID_SET __attribute__((cleanup(id_set_free)))

bool id_set_has(const struct id_set *set, const char *id);
int id_set_add(struct id_set *set, const char *id, struct error *err);
int id_set_add_all(struct id_set *set, const struct id_set *from, struct error *err);
/* Many at once, which need not be sorted or different. */
int id_set_add_strings(struct id_set *set, const char *const *ids, size_t count, struct error *err);
void id_set_remove(struct id_set *set, const char *id);
void id_set_remove_all(struct id_set *set, const struct id_set *ids);
/* Adds what is in both `a` and `b`. */
int id_set_add_common(struct id_set *set, const struct id_set *a, const struct id_set *b,
		      struct error *err);
bool id_set_contains(const struct id_set *set, const struct id_set *subset);

/* The ids in random order: an array of `set->count` borrowed strings. Caller frees. NULL: out of
 * memory (or an empty set; then count is 0). */
const char **id_set_shuffled(const struct id_set *set, struct random *random);

void id_set_clear(struct id_set *set); /* and gives the memory back */
void id_set_free(struct id_set *set);
