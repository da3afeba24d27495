/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Blobs by their digest on disk: DIRECTORY/sha256/HEX, all of mode 0700 and 0600. A blob is written under a name of its own and
 * renamed when its digest was right, so that processes may share the folder; it is verified again whenever it is read, so the folder
 * need not be trusted. The blobs used least recently are removed first; a removed blob is fetched again, and one that is being
 * read stays readable.
 */

#include "containers/registry/blob_reader.h"
#include "containers/registry/image.h"

/* A source that has added something prunes the cache to this size. */
#define CONTENT_CACHE_MAX (UINT64_C(10) << 30)

/* The unfinished files of processes that died are removed when they are this old. */
enum { CONTENT_CACHE_INCOMING_S = 24 * 60 * 60 };

/* The names of unfinished files begin like this. */
#define CONTENT_INCOMING ".incoming-"

struct content_cache_size {
	size_t files, removed; /* `files` are left */
	uint64_t bytes, removed_bytes;
};

/* Removes blobs until at most `max` bytes are left; UINT64_MAX removes nothing. Files with other names
 * stay and do not count; blobs that cannot be removed do. A missing folder is empty. Errors
 * are those of file_list(). */
int content_cache_prune(const char *directory, uint64_t max, struct content_cache_size *out,
			struct error *err);

/* Opens a blob and marks it as used now. ERROR_NOT_FOUND: absent, or of another size. */
int content_cache_open(const char *directory, const struct image_descriptor *what,
		       struct blob_reader **out, struct error *err);

/* A new file next to `path` for a blob on its way there; *incoming is its path, which the caller frees. -1: the folder cannot
 * be written. */
int content_cache_begin(const char *path, char **incoming);
