/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How large the content cache is. What was used least recently goes first. Other processes may use and
 * prune the same folder meanwhile: what is gone is fetched again, and what is being read stays readable.
 */

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* A source of a registry that has kept something leaves at most this. */
#define CONTENT_CACHE_MAX (UINT64_C(10) << 30)

/* What a process that died was writing is removed when it is this old. */
enum { CONTENT_CACHE_INCOMING_S = 24 * 60 * 60 };

/* "$XDG_CACHE_HOME/gpucert", "~/.cache/gpucert", on Windows below %LOCALAPPDATA%. NULL: no such folder is
 * known, or no memory. Caller frees. */
char *content_cache_directory(void);

struct content_cache_size {
	size_t files, removed; /* `files` are left */
	uint64_t bytes, removed_bytes;
};

/* Removes blobs until at most `max` bytes are left; UINT64_MAX removes nothing. Files with other names are
 * left alone and do not count; blobs that cannot be removed do. A folder that is not there is empty. Errors
 * are those of file_list(). */
int content_cache_prune(const char *directory, uint64_t max, struct content_cache_size *out,
			struct error *err);
