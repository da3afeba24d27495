/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The byte streams below HTTP/2, which go to socket files and named pipes (rpc/address.h), and the
 * listeners at socket files. rpc/posix/ and rpc/windows/ implement it.
 */

#include "rpc/address.h"
#include "rpc/rendezvous.h"
#include "rpc/socket.h"

#include <stdbool.h>
#include <uv.h>

/* Which side sends a rendezvous file's nonce. */
enum transport_greeting {
	TRANSPORT_NO_GREETING,
	TRANSPORT_GREETS,     /* our first bytes are the nonce */
	TRANSPORT_IS_GREETED, /* the peer's first bytes must be the nonce */
};

struct transport;
/* `why` NULL: it is connected, and reading and writing may begin. */
typedef void transport_connected(struct transport *transport, const struct error *why);

struct transport {
	union {
		uv_handle_t handle;
		uv_stream_t
			stream; /* valid once connected or accepted; its data is the transport */
		uv_pipe_t pipe;
		uv_tcp_t tcp;
	};
	bool open; /* the handle needs a transport_close() */
	enum transport_greeting greeting;
	uint8_t nonce[RENDEZVOUS_NONCE_SIZE];
	void *user;
	struct address address; /* of the peer */
	transport_connected *on_connected;
	void (*on_closed)(struct transport *transport);
	uv_connect_t connect;
	struct pending_connect *pending;	      /* Windows: a connection that is being made */
	void (*give_up)(struct transport *transport); /* frees `pending`; NULL: none */
};

/* Calls back from the loop, once, unless it is closed first. On error nothing is open. */
int transport_connect(struct transport *transport, uv_loop_t *loop, const struct address *address,
		      transport_connected *on_connected, void *user, struct error *err);

/* For the implementations: makes transport->pipe and connects it to transport->address. */
int transport_connect_pipe(struct transport *transport, uv_loop_t *loop, struct error *err);

/* An open transport. `on_closed`, which may be NULL, runs from the loop. */
void transport_close(struct transport *transport, void (*on_closed)(struct transport *transport));

/* The process at the other end of a connected transport: the listening one, if we connected. 0:
 * unknown (Windows, TCP, a process of another namespace). */
int transport_peer(const struct transport *transport);

struct listener;

struct listener_options {
	unsigned mode; /* of the socket file, as chmod's */
	bool refuse;   /* bind, but do not listen: nobody can connect */
	/* A connection is pending. It must be accepted before the next is reported. */
	void (*on_connection)(struct listener *listener, void *user);
	void *user;
};

/* Listens. ERROR_UNSUPPORTED: a named pipe. ERROR_EXISTS: the path exists. ERROR_NOT_FOUND: its directory does not
 * exist. ERROR_PERMISSION, ERROR_IO, ERROR_MEMORY. */
int listener_open(uv_loop_t *loop, const struct address *address,
		  const struct listener_options *options, struct listener **out, struct error *err);

/* Accepts the pending connection. transport->open: it needs a transport_close(), also after an
 * error, which is a negative code of libuv. */
int listener_accept(struct listener *listener, struct transport *transport, void *user);

/* Stops listening and removes the socket file unless it was replaced. `on_closed` runs from the
 * loop, when the listener is gone. */
void listener_close(struct listener *listener, void (*on_closed)(void *user));
