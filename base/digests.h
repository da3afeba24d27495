/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Digests of many files, read in the threads of a libuv loop's pool while the caller continues. A
 * file is read once, however many names it was added under.
 *
 *     digests = digests_new(&loop, NULL);
 *     digests_add(digests, "/usr/lib/libvulkan_lvp.so", &driver, err);
 *     ...
 *     digests_wait(digests);
 *     digest_result(driver)
 */

#include "base/digest_cache.h"
#include "base/text.h"

#include <uv.h>

struct digests;
struct digest_job; /* one file; belongs to its digests */

/* `cache` holds digests of earlier runs and receives those of this one; borrowed. NULL: everything is read. */
struct digests *digests_new(uv_loop_t *loop, struct digest_cache *cache);

/* Stops what has not ended and frees. The loop may run. NULL is allowed. */
void digests_free(struct digests *digests);

/* Begins to read a regular file. ERROR_NOT_FOUND and others: it cannot be opened; ERROR_FORMAT: it
 * is not a regular file. */
int digests_add(struct digests *digests, const char *path, const struct digest_job **out,
		struct error *err);

/* Runs the loop until every file has been read. */
void digests_wait(struct digests *digests);

/* "sha256:..."; "" before the file has been read, or when that failed. */
const char *digest_result(const struct digest_job *job);

/*
 * Files under names, with one digest over all.
 */
struct digest_set {
	struct text_list names;
	const struct digest_job **jobs; /* as many as names */
	bool incomplete;		/* a file could not be read */
};

void digest_set_free(struct digest_set *set);

/* Adds a file, or every file below a folder as NAME/PATH; links to folders are not followed. What
 * cannot be read makes the set incomplete. ERROR_LIMIT: more than 100,000 files, or nested deeper
 * than 64. */
int digest_set_add(struct digest_set *set, struct digests *digests, const char *name,
		   const char *path, struct error *err);

/* SHA-256 over "NAME DIGEST\n" of each file, sorted. False: the set is empty or incomplete. After
 * digests_wait(). */
bool digest_set_result(const struct digest_set *set, char out[DIGEST_SIZE]);
