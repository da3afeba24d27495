/* SPDX-License-Identifier: MIT */
#pragma once

/* Moves a session's bytes through a transport, and keeps its time. */

#include "rpc/session.h"
#include "rpc/transport.h"

struct connection {
	struct session *session;
	struct transport transport; /* its user is the connection */
	uv_timer_t timer;	    /* next deadline of an exchange, or for the peer's SETTINGS */
	uv_write_t write;
	bool up;      /* bytes can be written */
	bool writing; /* session->output waits for libuv */
	bool timer_open;
	unsigned handles;	/* not closed yet */
	size_t greeting_seen;	/* bytes of the peer's greeting received */
	bool greeting_is_wrong; /* one of these bytes */
	uint64_t timer_ms;	/* when the timer fires; UINT64_MAX: it is stopped */
	uint64_t settle_ms;	/* deadline for the peer's SETTINGS; UINT64_MAX: none */
	char *input;		/* what libuv reads into */
	void (*on_closed)(struct connection *connection);
};

extern const struct session_transport connection_transport;

/* `on_closed` runs when connection_close() has finished; it may free the connection. Its transport
 * is opened next, or it is closed. */
void connection_init(struct connection *connection, uv_loop_t *loop, struct session *session,
		     void (*on_closed)(struct connection *connection));

/* The transport is connected: starts to read. session_run() must follow, which writes pending
 * output. */
void connection_start(struct connection *connection);

/* Fails the session when the peer has sent no SETTINGS within `timeout_ms`. */
void connection_expect_settings(struct connection *connection, uint64_t timeout_ms);

/* Closes the transport and keeps the timer: exchanges can still expire. */
void connection_cut(struct connection *connection);
void connection_close(struct connection *connection); /* everything; may be called twice */
