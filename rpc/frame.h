/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * gRPC message framing: each message is one byte of flags (1: compressed), its length as four
 * bytes, big endian, and its bytes. They are independent of the boundaries of DATA frames.
 */

#include "rpc/rpc.h"

#include <stdbool.h>

enum { FRAME_PREFIX_SIZE = 5 };

void frame_write_prefix(uint8_t out[FRAME_PREFIX_SIZE], uint32_t size);

/* The message at the beginning of the bytes; it points into them. *whole is false when it is
 * incomplete. ERROR_LIMIT: longer than `max` (known from the prefix alone). ERROR_UNSUPPORTED:
 * compressed. ERROR_FORMAT: other flags. */
int frame_read(struct rpc_slice input, size_t max, bool *whole, struct rpc_slice *message,
	       struct error *err);

/* The gRPC status for an error of frame_read(). */
int frame_error_status(int error_code);
