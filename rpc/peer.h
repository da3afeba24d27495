/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of a server, for peer.c and for tests that drive a connection without a socket. */

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
	struct timer *grace; /* of the shutdown */
	bool listening;	     /* there is a listener, or it is being closed */
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
void peer_free(struct peer *peer); /* takes it from its server */

/* Accepts what waits on `listener`. */
void peer_accept(struct rpc_server *server, struct listener *listener);

/* The shutdown's steps: no new streams; the open ones end; the connection ends. */
void peer_say_goaway(struct peer *peer);
void peer_drain(struct peer *peer); /* no new streams, but for those on their way */
void peer_abort_streams(struct peer *peer);
void peer_cut(struct peer *peer);

/* Frees a closing server once nothing of it is open. */
void server_settle(struct rpc_server *server);
