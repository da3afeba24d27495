/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * gRPC message framing: each message is one byte of flags (1: compressed), its length as four
 * bytes, big endian, and its bytes. Frames have nothing to do with the borders of DATA frames.
 */

#include "base/text.h"
#include "rpc/rpc.h"

#include <stdbool.h>

enum { FRAME_PREFIX_SIZE = 5 };

void frame_write_prefix(uint8_t out[FRAME_PREFIX_SIZE], uint32_t size);

/* Puts messages together from bytes as they come. Zero-initialise, then set `max`. */
struct frame_reader {
	size_t max;	   /* largest message, bytes */
	struct text bytes; /* prefix and message; grow as they come, never by what is announced */
	bool whole;	   /* the message was handed out */
};

/*
 * Moves bytes from the front of *input into the message at hand. Returns with *whole set when it is
 * complete: *message is borrowed until the next call. Without it all of *input was taken.
 * ERROR_LIMIT: longer than `max` (known from the prefix alone). ERROR_UNSUPPORTED: compressed.
 * ERROR_FORMAT: other flags. ERROR_MEMORY. After an error the reader is of no further use.
 */
int frame_read(struct frame_reader *reader, struct rpc_slice *input, bool *whole,
	       struct rpc_slice *message, struct error *err);

/* Does it hold the beginning of a message? */
bool frame_reader_is_partial(const struct frame_reader *reader);

void frame_reader_free(struct frame_reader *reader);

/* The gRPC status for an error of frame_read(). */
int frame_error_status(int error_code);
