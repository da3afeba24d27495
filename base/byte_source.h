/* SPDX-License-Identifier: MIT */
#pragma once

/* Bytes at places: of a file, or of what was kept of one that passed as a stream. */

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct byte_source {
	/* As many bytes from `offset` on as there are, `size` at most. */
	int (*read_at)(void *user, uint64_t offset, void *out, size_t size, size_t *got,
		       struct error *err);
	/* Told before many small reads of one range; NULL: need not know. Fails when the range cannot
	 * be had. */
	int (*expect)(void *user, uint64_t offset, uint64_t size, struct error *err);
	void *user;
};
