/* SPDX-License-Identifier: MIT */
#pragma once

/* The internals of a server's stream: from the request's first header to the last trailer. */

#include "rpc/server.h"
#include "rpc/session.h"

/* One method of a server. */
struct method {
	char *path;
	rpc_handler *handler;
	void *user;
};

struct rpc_stream {
	struct exchange exchange; /* first: an exchange of the server role is a stream */
	struct headers request;
	bool has_request; /* the request's headers are complete */
	bool checked;	  /* ... and valid */
	bool has_message;
	bool dispatched;       /* passed to the handler */
	bool responded;	       /* the answer's headers are submitted */
	bool finished;	       /* the status is decided */
	bool encoding_refused; /* and the answer names the supported one */
	struct rpc_slice message;
	const struct method *method;
	int code;
	struct text text; /* grpc-message, percent-encoded */
	void (*on_end)(void *user);
	void *end_user;
	void (*on_drain)(struct rpc_stream *stream, void *user);
	void *drain_user;
};

/* Parts of the server role. */
struct exchange *stream_accept(struct session *session);
void stream_headers(struct exchange *exchange);
int stream_trailers(struct exchange *exchange);
void stream_process(struct exchange *exchange);
void stream_expire(struct exchange *exchange);
void stream_destroy(struct exchange *exchange);

/* Detaches the stream from its handler (on_end) and ends it with `code`, at once if it cannot wait. */
void stream_abort(struct rpc_stream *stream, int code, const char *message);

/* Detaches the stream from its handler: on_end, once. */
void stream_release(struct rpc_stream *stream);

/* Answers with only an HTTP status, as to a request that is not gRPC. */
void stream_finish_http(struct rpc_stream *stream, const char *status);

/* Processes what has arrived of the request: passes it to its handler, or refuses it with a status
 * (request.c). */
void request_advance(struct rpc_stream *stream);

/* A method of the session's server by its path; NULL: none (peer.c). */
const struct method *session_find_method(const struct session *session, const char *path);
/* Is one of them in the service that these `size` bytes name? */
bool session_has_service(const struct session *session, const char *name, size_t size);
