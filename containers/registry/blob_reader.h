/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct image_descriptor;

/* A stream of bytes. */
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

/* All of its bytes. ERROR_LIMIT: more than `max` bytes. */
int blob_read_all(struct blob_reader *reader, size_t max, struct text *out, struct error *err);

/*
 * A reader that compares the bytes of another with their digest and size (UINT64_MAX: unknown). It takes ownership of
 * the other even when it fails. The end comes only when both match; do not trust the bytes until then. ERROR_PROTOCOL:
 * they do not; a failure is permanent. Verified content is stored in `cache` (NULL: none); with `is_copy` wrong content
 * is removed from there.
 */
int blob_verify(struct blob_reader *reader, const struct image_descriptor *what, const char *cache,
		bool is_copy, struct blob_reader **out, struct error *err);
