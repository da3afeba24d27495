/* SPDX-License-Identifier: MIT */
#pragma once

/* A socket that does not speak gRPC, in place of kubelet.sock. */

#include "base/error.h"

#include <uv.h>

enum fault_listener_kind {
	FAULT_LISTENER_SILENT,	/* accepts, reads, says nothing */
	FAULT_LISTENER_GARBAGE, /* accepts, writes bytes that are no HTTP/2, closes */
	FAULT_LISTENER_CLOSE,	/* accepts and closes */
	FAULT_LISTENER_REFUSE,	/* bound, but not listening */
};

struct fault_listener;

/* The path must be free. ERROR_EXISTS, ERROR_IO. */
int fault_listener_open(uv_loop_t *loop, const char *path, enum fault_listener_kind kind,
			struct fault_listener **out, struct error *err);

/* Closes every connection and removes the socket. NULL is allowed. */
void fault_listener_close(struct fault_listener *listener);
