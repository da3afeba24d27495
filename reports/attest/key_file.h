/* SPDX-License-Identifier: MIT */
#pragma once

/* Where keys are kept: files that only their owner may read. */

#include "base/error.h"

#include <stddef.h>

/* Writes a file that must not be there yet: ERROR_EXISTS. `mode` as in base/file.h. Nothing is left of one that cannot be
 * written. */
int key_file_create(const char *path, const void *data, size_t size, unsigned mode,
		    struct error *err);

/* Of an open private key. ERROR_PERMISSION: others than its owner (on Windows: and SYSTEM and Administrators) may use
 * it. */
int key_file_check(int fd, const char *path, struct error *err);
