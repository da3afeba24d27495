/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Merges the entries of several sources, plugins or CDI devices, into one grant. One entry of each
 * key stays; every other one becomes a conflict of the grant, which says whether anything was lost.
 */

#include "base/text_index.h"
#include "containers/grant/grant.h"

/* Zeroed except for `out` and `replaces`. */
struct grant_merge {
	struct grant *out;
	bool replaces;	    /* the last entry of a key stays; otherwise the first */
	const char *source; /* of grant_merge_from(); owned by the grant */
	struct text_index entries[GRANT_KINDS];
};

#define CLEANUP_GRANT_MERGE __attribute__((cleanup(grant_merge_free)))

/* Entries added from now on are this source's. */
void grant_merge_from(struct grant_merge *merge, const char *source);

/* Copies the entry. When one source has a variable or annotation twice, the later value always
 * stays: they are maps. */
void grant_merge_add(struct grant_merge *merge, enum grant_kind kind, struct grant_entry entry);

/* Records an entry that is not passed on. */
void grant_merge_drop(struct grant_merge *merge, enum grant_kind kind,
		      const struct grant_entry *entry);

void grant_merge_free(struct grant_merge *merge); /* does not free the grant */
