/* SPDX-License-Identifier: MIT */
#pragma once

/* Sets of device ids: sorted, without duplicates, owning their strings. */

#include "base/cleanup.h"
#include "base/text.h"

#include <stdint.h>

/* Reproducible random order (SplitMix64), where the kubelet's order is that of a Go map. */
struct random {
	uint64_t state;
};

/* Fisher-Yates over an array of pointers. */
void random_shuffle(struct random *random, void *pointers, size_t count);

struct id_set {
	struct text_list list;
};

#define CLEANUP_ID_SET CLEANUP(id_set_clear)

bool id_set_has(const struct id_set *set, const char *id);
void id_set_add(struct id_set *set, const struct id_set *from);
/* Strings that need not be sorted or different. */
void id_set_add_strings(struct id_set *set, const char *const *ids, size_t count);
void id_set_remove(struct id_set *set, const struct id_set *ids);
void id_set_keep(struct id_set *set, const struct id_set *ids); /* removes all others */
bool id_set_contains(const struct id_set *set, const struct id_set *subset);

/* The ids in random order: an array of borrowed strings. Caller frees. */
const char **id_set_shuffled(const struct id_set *set, struct random *random);

void id_set_clear(struct id_set *set); /* and frees it */
