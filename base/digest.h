/* SPDX-License-Identifier: MIT */
#pragma once

/* SHA-256, as "sha256:" and 64 lower-case hex digits. */

#include "base/error.h"

#include <stddef.h>

enum { DIGEST_SIZE = sizeof("sha256:") + 64 };

void digest_bytes(const void *data, size_t size, char out[DIGEST_SIZE]);

/* Of a file's content, read in chunks: any size. `size` receives its length; may be NULL. */
int digest_file(const char *path, char out[DIGEST_SIZE], unsigned long long *size,
		struct error *err);
