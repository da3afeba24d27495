/* SPDX-License-Identifier: MIT */
#pragma once

/* Random access to bytes: of a file, or of the kept part of one that passed as a stream. */

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct byte_source {
	/* Reads up to `size` bytes from `offset` on, fewer at the end. */
	int (*read_at)(void *user, uint64_t offset, void *out, size_t size, size_t *got,
		       struct error *err);
	/* Announces many small reads of one range; NULL: not needed. Fails when the range cannot be
	 * read. */
	int (*expect)(void *user, uint64_t offset, uint64_t size, struct error *err);
	void *user;
};
