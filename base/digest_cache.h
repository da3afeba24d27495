/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Digests of files that did not change since they were read, kept in one file that processes of one user share.
 *
 * A file is the same when device, inode, size, mtime and ctime are. Nobody sets ctime: a change of the content or of
 * mtime makes it the kernel's present time. Two changes within one tick of that clock (2 s on the coarsest file
 * systems) look like one, so a file that changed less than 3 s before it was read is not kept. Root can write into the
 * cache, or turn the clock back; nothing here protects against root (docs/threat-model.md).
 */

#include "base/digest.h"
#include "base/file.h"

#include <stdbool.h>

struct digest_cache;

#define CLEANUP_DIGEST_CACHE __attribute__((cleanup(digest_cache_free)))

/* Reads what the file holds, and makes the folder where it is missing. A file that somebody else owns or may write, that is damaged
 * or too long counts as empty and is replaced. Errors: the file or its folder cannot be used. */
int digest_cache_open(const char *path, struct digest_cache **out, struct error *err);
void digest_cache_free(struct digest_cache **cache);

/* Writes a file with the same records. */
int digest_cache_copy(const struct digest_cache *cache, const char *path, struct error *err);

/* "sha256:..."; NULL: not known. Valid until the next digest_cache_add(). */
const char *digest_cache_find(const struct digest_cache *cache, const struct file_status *file);

/* Keeps the digest of a file whose status was `before` when reading began at `read_ns` (since 1970), and is `now`,
 * unless the file changed since or shortly before. A digest that cannot be written is computed again next time. */
void digest_cache_add(struct digest_cache *cache, const struct file_status *before,
		      const struct file_status *now, int64_t read_ns, const char *digest);

/* Finds the digest of a file, or else reads the file and keeps it. `cache` NULL: always reads. Errors of
 * digest_file(). */
int digest_cache_file(struct digest_cache *cache, const char *path, char digest[DIGEST_SIZE],
		      struct error *err);

/* Reads the status that identifies a file, where that of its path does not. False: the file is read each time. */
typedef bool digest_cache_identify(const void *user, struct file_status *out);
int digest_cache_read(struct digest_cache *cache, const char *path, digest_cache_identify *identify,
		      const void *user, char digest[DIGEST_SIZE], struct error *err);
