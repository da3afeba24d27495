/* SPDX-License-Identifier: MIT */
#pragma once

/* The internals of a server, for peer.c and for tests that drive a connection without a socket. */

#include "rpc/connection.h"
#include "rpc/loop.h"
#include "rpc/server.h"
#include "rpc/stream.h"

struct rpc_server {
	uv_loop_t *loop;
	struct rpc_server_options options;
	struct method *methods;
	size_t method_count;
	struct listener *listener;
	struct peer *peers;
	struct timer *grace; /* the grace period of the shutdown */
	bool listening;	     /* the listener is open or being closed */
	bool closing;
	bool last_words; /* the grace is over */
	void (*on_closed)(void *user);
	void *closed_user;
};

/* One connection of a server. */
struct peer {
	struct session session; /* first: a session of the server role is a peer */
	struct connection connection;
	struct rpc_server *server;
	struct peer *previous, *next;
};

/* A connection whose bytes the caller moves through `transport`. */
int peer_new(struct rpc_server *server, const struct session_transport *transport,
	     struct peer **out, struct error *err);
void peer_free(struct peer *peer); /* removes it from its server */

/* Accepts the pending connection of `listener`. */
void peer_accept(struct rpc_server *server, struct listener *listener);

/* The shutdown's steps: no new streams; the open ones end; the connection ends. */
void peer_say_goaway(struct peer *peer);
void peer_drain(struct peer *peer); /* no new streams, except those in flight */
void peer_abort_streams(struct peer *peer);
void peer_cut(struct peer *peer);

/* Frees a closing server once all its parts are closed. */
void server_settle(struct rpc_server *server);
