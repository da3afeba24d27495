/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * gRPC over HTTP/2 (nghttp2) on a libuv loop: what client and server share. This folder holds everything
 * that speaks the protocol or needs the loop, down to the sockets (posix/, windows/), and the .proto files
 * of the interfaces that the project uses (proto/); it knows nothing about the meaning of the calls.
 *
 * Everything here belongs to one loop and one thread. No function blocks, except those whose name ends in
 * _wait, which run the loop until their result is available and so must not be called from a callback.
 *
 * The first connection makes the process ignore SIGPIPE, unless it handles that signal itself.
 *
 * Source of the wire rules: grpc/grpc doc/PROTOCOL-HTTP2.md, RFC 9113, RFC 7541.
 */

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* X(name, its name in Go): the gRPC status codes in the order of their numbers, from 0. On the wire
 * any other number may come as well. */
#define RPC_CODES(X)                                                                               \
	X(OK, "OK")                                                                                \
	X(CANCELLED, "Canceled")                                                                   \
	X(UNKNOWN, "Unknown")                                                                      \
	X(INVALID_ARGUMENT, "InvalidArgument")                                                     \
	X(DEADLINE_EXCEEDED, "DeadlineExceeded")                                                   \
	X(NOT_FOUND, "NotFound")                                                                   \
	X(ALREADY_EXISTS, "AlreadyExists")                                                         \
	X(PERMISSION_DENIED, "PermissionDenied")                                                   \
	X(RESOURCE_EXHAUSTED, "ResourceExhausted")                                                 \
	X(FAILED_PRECONDITION, "FailedPrecondition")                                               \
	X(ABORTED, "Aborted")                                                                      \
	X(OUT_OF_RANGE, "OutOfRange")                                                              \
	X(UNIMPLEMENTED, "Unimplemented")                                                          \
	X(INTERNAL, "Internal")                                                                    \
	X(UNAVAILABLE, "Unavailable")                                                              \
	X(DATA_LOSS, "DataLoss")                                                                   \
	X(UNAUTHENTICATED, "Unauthenticated")

enum rpc_code {
	RPC_NO_STATUS = -1, /* never on the wire: no call was made, or nobody answered */
#define RPC_CODE(name, go_name) RPC_##name,
	RPC_CODES(RPC_CODE)
#undef RPC_CODE
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
	const char *message; /* percent-decoded; "" when absent */
};

/* Bounds on the work that a peer can cause. A zero member means its default. */
struct rpc_limits {
	uint32_t message_max;		 /* 4 MiB, as grpc-go's default */
	uint32_t header_list_max;	 /* 16 KiB, names and values of one header list */
	uint32_t concurrent_streams_max; /* 256, server side */
	uint32_t reset_rate_max; /* 200 RST_STREAM frames a second from the peer, then GOAWAY */
};
