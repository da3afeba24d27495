/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes from somewhere, not yet verified. */
struct blob_reader {
	/* *count is 0 at the end. */
	int (*read)(struct blob_reader *reader, void *out, size_t size, size_t *count,
		    struct error *err);
	void (*close)(struct blob_reader *reader); /* frees it */
	/* Told once whether digest and size of all that was read were right. May be NULL. */
	void (*judged)(struct blob_reader *reader, bool right);
	bool is_copy; /* where it was wrong, the blob itself may be right */
};

static inline void blob_reader_close(struct blob_reader **reader)
{
	if (*reader != NULL)
		(*reader)->close(*reader);
	*reader = NULL;
}

#define CLEANUP_BLOB_READER __attribute__((cleanup(blob_reader_close)))
