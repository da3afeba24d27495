/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One HTTP/2 connection as gRPC uses it, for client and server. A session consumes and produces
 * bytes; the transport moves them (connection.h), so a session also runs purely in memory.
 *
 * No code of the caller runs inside an nghttp2 callback. These callbacks record input and put the
 * exchange on the ready list; session_run() processes the list, where callers may do anything,
 * ending the session included. Only the transport calls session_run(), so the caller's requests
 * never run its own callbacks unexpectedly.
 */

#include "base/text.h"
#include "rpc/frame.h"
#include "rpc/headers.h"
#include "rpc/rpc.h"

#include <nghttp2/nghttp2.h>
#include <stdbool.h>

struct session;

/* One HTTP/2 stream: the first member of a client's call and of a server's stream. */
struct exchange {
	struct session *session;
	struct exchange *previous, *next; /* all exchanges of the session */
	struct exchange *next_ready;
	int32_t id;
	bool is_ready;
	bool sent;	  /* its headers were sent */
	bool input_ended; /* the peer has sent END_STREAM */
	bool closed;	  /* there is no stream (any more) */
	bool released;	  /* the caller is done with it; destroyed once it is closed as well */
	uint32_t close_code;

	struct headers headers; /* the list being received */
	struct text input;	/* DATA bytes: at most one message and one window */
	size_t input_start;	/* earlier ones were read by exchange_read() */
	size_t input_taken;	/* earlier ones reopened the stream's window */
	bool input_ignored;	/* DATA is dropped on arrival */

	struct text output;    /* one framed message, or none */
	size_t output_start;   /* bytes of it that the connection has accepted */
	bool output_last;      /* nothing comes after `output` */
	bool output_taken;     /* a message that had to wait was sent since the last process() */
	uint64_t output_flush; /* the first flush that can accept it */

	uint64_t deadline_ms; /* clock_monotonic_ms(); UINT64_MAX: none */
};

/* What makes a session a client or a server. */
struct session_role {
	bool is_server;
	/* A request begins; NULL refuses it. Server only. */
	struct exchange *(*accept)(struct session *session);
	/* A header list is complete in exchange->headers, which is empty afterwards. Runs inside
	 * nghttp2. */
	void (*headers)(struct exchange *exchange);
	/* The last bytes of the last message were sent. The server submits its trailers. Inside
	 * nghttp2. */
	int (*trailers)(struct exchange *exchange);
	/* Something changed: headers, input, input_ended, closed or output_taken. */
	void (*process)(struct exchange *exchange);
	/* The deadline has passed. */
	void (*expire)(struct exchange *exchange);
	/* The peer's first SETTINGS have arrived. May be NULL. */
	void (*settled)(struct session *session);
	/* The peer will take no more requests (session->goaway); reported again whenever the session runs.
	 * May be NULL. */
	void (*goaway)(struct session *session);
	/* The session has ended; `why` has the code 0 when both sides agreed. Every exchange is
	 * still there. */
	void (*lost)(struct session *session, const struct error *why);
	void (*destroy)(struct exchange *exchange);
};

struct session_transport {
	/* Gets bytes with session_produce() while it can write them. */
	void (*flush)(struct session *session);
	/* Calls session_expire() and session_run() then (clock_monotonic_ms()), or as soon as
	 * possible. */
	void (*wake_at)(struct session *session, uint64_t deadline_ms);
};

struct session {
	nghttp2_session *http2;
	const struct session_role *role;
	const struct session_transport *transport;
	void *transport_data;
	struct rpc_limits limits;
	struct exchange *first;
	struct exchange *ready_first, **ready_end;
	struct text output; /* bytes for the transport */
	uint64_t flushes;
	unsigned depth;	       /* of session_enter() */
	bool settled;	       /* the peer's first SETTINGS have arrived */
	bool settled_reported; /* to the role */
	bool draining;	       /* GOAWAY is announced; its last stream id follows a PING */
	bool ended;
	bool failing; /* ends in the next session_run() for the reason below */
	struct error failure;
	struct error goaway;   /* why the peer sent GOAWAY; code 0: it has not */
	uint64_t reset_second; /* the second that resets are counted in */
	uint32_t reset_count;
};

/* `initial_window`: bytes a stream's peer may send ahead; 0: 65535. The session's first bytes are ready
 * after it. */
int session_init(struct session *session, const struct session_role *role,
		 const struct session_transport *transport, const struct rpc_limits *limits,
		 uint32_t initial_window, struct error *err);
void session_free(struct session *session); /* destroys the remaining exchanges */

/* Around everything the caller does to the session: the outermost session_leave() writes. Nothing
 * is written inside session_run() until the caller's callbacks have returned, so that an answer's
 * headers, message and trailers go out together. */
void session_enter(struct session *session);
void session_leave(struct session *session);

/* Hands the output to the transport now, without waiting for the outermost session_leave(). */
void session_flush(struct session *session);

/* Works through everything that is ready, then writes; runs the caller's callbacks. */
void session_run(struct session *session);

/* Processes bytes from the peer; session_run() must follow. */
void session_receive(struct session *session, const uint8_t *data, size_t size);

/* Adds bytes until session->output holds SESSION_OUTPUT_MAX. False: nothing to add. */
bool session_produce(struct session *session);

/* The streams opened so far are the last ones (GOAWAY). */
void session_say_goaway(struct session *session);

/* Ends the session in the next session_run(). The first reason counts. */
void session_fail(struct session *session, const struct error *why);

/* Ends exchanges whose deadline has passed; returns the next deadline. session_run() must follow.
 */
uint64_t session_expire(struct session *session, uint64_t now_ms);

/* Bytes after which session_produce() stops: enough for one write. */
enum { SESSION_OUTPUT_MAX = 64 * 1024 };

/* What nghttp2 calls while it reads and writes: keeps the exchanges up to date
 * (session_callbacks.c). */
void session_set_callbacks(nghttp2_session_callbacks *callbacks);

void exchange_attach(struct session *session, struct exchange *exchange);
void exchange_destroy(struct exchange *exchange);
/* Moves it, with the message to be sent, to a session where it has no stream yet. */
void exchange_move(struct exchange *exchange, struct session *to);
void exchange_wake(struct exchange *exchange); /* process() it in session_run() */
void exchange_set_deadline(struct exchange *exchange, uint64_t deadline_ms);

/* The next complete message, borrowed until the next call. Its bytes, even of an incomplete one,
 * reopen the stream's window. Errors of frame_read(). */
int exchange_read(struct exchange *exchange, bool *whole, struct rpc_slice *message,
		  struct error *err);
bool exchange_has_input(const struct exchange *exchange); /* not read yet */
void exchange_drop_input(struct exchange *exchange);
void exchange_ignore_input(struct exchange *exchange); /* later input too */

/* Allocates a framed message of `size` bytes; NULL when memory ran out. Fill it, then
 * exchange_resume(). */
uint8_t *exchange_message(struct exchange *exchange, size_t size);
bool exchange_has_output(const struct exchange *exchange);
void exchange_resume(struct exchange *exchange);
void exchange_reset(struct exchange *exchange, uint32_t http2_error);

/* The data provider for submitting headers with a body. */
nghttp2_data_provider exchange_body(struct exchange *exchange);

/* A header field of two constant strings. */
nghttp2_nv header_field(const char *name, const char *value);
