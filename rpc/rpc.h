/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * gRPC over HTTP/2 (nghttp2) on a libuv loop: what client and server share.
 *
 * Everything here belongs to one loop and one thread. No function blocks, except those whose name
 * ends in _wait, which run the loop until their result is there and so may not be called from a
 * callback.
 *
 * The first connection makes the process ignore SIGPIPE, unless it handles that signal itself.
 *
 * Source of the wire rules: grpc/grpc doc/PROTOCOL-HTTP2.md, RFC 9113, RFC 7541.
 */

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* gRPC status codes, as on the wire, where any other number may come as well. */
enum rpc_code {
	RPC_NO_STATUS = -1, /* never on the wire: nothing was called, or nobody answered */
	RPC_OK = 0,
	RPC_CANCELLED = 1,
	RPC_UNKNOWN = 2,
	RPC_INVALID_ARGUMENT = 3,
	RPC_DEADLINE_EXCEEDED = 4,
	RPC_NOT_FOUND = 5,
	RPC_ALREADY_EXISTS = 6,
	RPC_PERMISSION_DENIED = 7,
	RPC_RESOURCE_EXHAUSTED = 8,
	RPC_FAILED_PRECONDITION = 9,
	RPC_ABORTED = 10,
	RPC_OUT_OF_RANGE = 11,
	RPC_UNIMPLEMENTED = 12,
	RPC_INTERNAL = 13,
	RPC_UNAVAILABLE = 14,
	RPC_DATA_LOSS = 15,
	RPC_UNAUTHENTICATED = 16,
};

/* "NOT_FOUND", "NO_STATUS"; "UNKNOWN" for numbers that gRPC does not define. */
const char *rpc_code_name(int code);

/* Borrowed bytes. */
struct rpc_slice {
	const uint8_t *data;
	size_t size;
};

/* How a call ended. Borrowed for the duration of the callback. */
struct rpc_status {
	int code;	     /* enum rpc_code, or what the peer sent instead */
	const char *message; /* percent-decoded; "" when there is none */
};

/* Bounds on what a peer may make us do. A zero member means its default. */
struct rpc_limits {
	uint32_t message_max;		 /* 4 MiB, as grpc-go's default */
	uint32_t header_list_max;	 /* 16 KiB, names and values of one header list */
	uint32_t concurrent_streams_max; /* 256, server side */
	uint32_t reset_rate_max; /* 200 RST_STREAM frames a second from the peer, then GOAWAY */
};
