/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Entries of several sources, plugins or CDI devices, in one grant. One entry of a key stays; each
 * other one is a conflict of the grant, which says whether anything was lost.
 */

#include "base/text_index.h"
#include "containers/grant/grant.h"

/* Zeroed but for `out`, `err` and `replaces`. */
struct grant_merge {
	struct grant *out;
	bool replaces;	    /* the last entry of a key stays; otherwise the first */
	const char *source; /* what grant_merge_from() said; kept by the grant */
	struct text_index entries[GRANT_KINDS];
	struct error *err;
};

#define CLEANUP_GRANT_MERGE __attribute__((cleanup(grant_merge_free)))

/* From now on entries are this source's. ERROR_MEMORY. */
int grant_merge_from(struct grant_merge *merge, const char *source);

/* Copies the entry. Of a variable or annotation that one source gives twice, the later value stays
 * in any case: they are maps. ERROR_MEMORY. */
int grant_merge_add(struct grant_merge *merge, enum grant_kind kind, struct grant_entry entry);

/* Notes an entry that nobody passes on. ERROR_MEMORY. */
int grant_merge_drop(struct grant_merge *merge, enum grant_kind kind,
		     const struct grant_entry *entry);

void grant_merge_free(struct grant_merge *merge); /* not the grant */
