/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reader of the CRI log format, in which a runtime stores a container's output.
 *
 *   TIMESTAMP SP ("stdout" | "stderr") SP TAGS SP CONTENT LF
 *
 * TIMESTAMP is RFC 3339; TAGS are separated by ':', the first is "F" (CONTENT is a whole line) or
 * "P" (the line continues in the next record of the same stream). Source: k8s.io/cri-client
 * pkg/logs/logs.go. Content is arbitrary bytes.
 */

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One stream's content with its newlines. At most `max` bytes are kept: the first and the last
 * half. */
struct container_stream {
	struct text content;
	size_t max;
};

enum {
	CONTAINER_LOG_RECORD_MAX = 1024 * 1024
}; /* bytes of one record; longer ones are malformed */

/* Zero-initialised by container_log_begin(). */
struct container_log {
	struct container_stream out, err;
	uint64_t malformed;	   /* malformed records, which were dropped */
	uint64_t malformed_line;   /* number of the first such line, from 1 */
	const char *malformed_why; /* what was wrong with it */
	/* Private to the reader. */
	struct text pending;
	uint64_t lines;
	bool skipping;
};

/* `stream_max`: bytes kept of each stream, at least 2. */
void container_log_begin(struct container_log *log, size_t stream_max);

/* Any piece of the file; pieces may end anywhere. */
void container_log_feed(struct container_log *log, const char *data, size_t size);

/* The end of the file. A last record without LF is malformed (the runtime died while it wrote).
 * Afterwards both `content`s are complete. */
void container_log_end(struct container_log *log);
void container_log_free(struct container_log *log);

#define CLEANUP_CONTAINER_LOG __attribute__((cleanup(container_log_free)))

/* The three above over a file. ERROR_NOT_FOUND, ERROR_IO. */
int container_log_read(struct container_log *log, const char *path, size_t stream_max,
		       struct error *err);
