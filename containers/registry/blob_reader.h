/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text.h"

#include <stdint.h>

/* Bytes from somewhere. */
struct blob_reader {
	/* *count is 0 at the end. */
	int (*read)(struct blob_reader *reader, void *out, size_t size, size_t *count,
		    struct error *err);
	void (*close)(struct blob_reader *reader); /* frees it */
};

static inline void blob_reader_close(struct blob_reader **reader)
{
	if (*reader != NULL)
		(*reader)->close(*reader);
	*reader = NULL;
}

#define CLEANUP_BLOB_READER __attribute__((cleanup(blob_reader_close)))

/* All that it gives. ERROR_LIMIT: more than `max` bytes. */
int blob_read_all(struct blob_reader *reader, size_t max, struct text *out, struct error *err);
