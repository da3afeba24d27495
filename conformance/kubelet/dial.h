/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Connecting to a plugin's socket as grpc-go's blocking dial does: a connection stands when the
 * peer's SETTINGS came; until then it is tried again, after 1 s, 1.6 s, 2.56 s and so on, until the
 * time is over. Sources: device plugin client.go (dial), grpc/grpc doc/connection-backoff.md.
 */

#include "rpc/client.h"

struct dial;

struct dial_result {
	struct rpc_channel *channel; /* the callee's to close; NULL when the time was over */
	unsigned attempts;
	const char *reason; /* why the last attempt failed; "" on success */
};

/* `authority` may be NULL for the channel's default. `done` runs once, from the loop. The dial
 * stays the caller's, who frees it after the channel is closed. */
int dial_start(uv_loop_t *loop, const char *socket, const char *authority, uint64_t timeout_ms,
	       void (*done)(const struct dial_result *result, void *user), void *user,
	       struct dial **out, struct error *err);

/* Gives up if it is still under way (`done` does not run) and frees. NULL is allowed. */
void dial_free(struct dial *dial);
