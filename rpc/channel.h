/* SPDX-License-Identifier: MIT */
#pragma once

/* The internals of a channel, for call.c and for tests that drive one without a socket. */

#include "rpc/client.h"
#include "rpc/connection.h"

struct rpc_channel {
	struct session session; /* first: a session of the client role is a channel */
	struct connection connection;
	uv_loop_t *loop;
	struct rpc_channel_options options; /* the authority is a copy */
	char *address;			    /* where to dial again; NULL: this one does not */
	struct rpc_channel *owner; /* who dialled this connection for its new calls; NULL: itself */
	struct rpc_channel *later; /* the connections dialled since, newest first */
	struct rpc_channel *next;  /* in the owner's list */
	bool lost_reported;
	bool released; /* rpc_channel_close() was called */
};

/* A channel that is not connected to anything: the caller moves its session's bytes through
 * `transport`. */
int channel_new(const struct rpc_channel_options *options,
		const struct session_transport *transport, struct rpc_channel **out,
		struct error *err);
void channel_free(struct rpc_channel *channel);

/* The connection that a new call goes to: the newest, or one that this call dials. */
struct rpc_channel *channel_for_call(struct rpc_channel *channel);

/* Why new calls cannot be made on this connection; NULL while they can. */
const struct error *channel_lost_reason(const struct rpc_channel *channel);

/* The client role of a session; its calls are in call.c. */
extern const struct session_role client_role;

/* Parts of the role. */
void call_send(struct exchange *exchange); /* if it waits for the connection */
void call_headers(struct exchange *exchange);
void call_process(struct exchange *exchange);
void call_expire(struct exchange *exchange);
void call_destroy(struct exchange *exchange);

/* Ends a call that the session cannot continue. */
void call_abort(struct exchange *exchange, int code, const char *message);
