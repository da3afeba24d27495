/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * gRPC client: a channel is one HTTP/2 connection to one address; calls run on it concurrently. A
 * channel that redials uses successive connections, as grpc-go's ClientConn.
 */

#include "base/cleanup.h"
#include "rpc/rpc.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <uv.h>

struct rpc_channel;
struct rpc_call;

struct rpc_channel_options {
	struct rpc_limits limits;
	const char *authority;	 /* default "localhost", as kubelet's clients send it */
	uint32_t initial_window; /* bytes per stream; default 65535 */
	/* A call that is not yet sent when the connection is lost, or the peer sends GOAWAY, dials
	 * the address again and waits for that connection; open calls stay on theirs until they
	 * end. A call that the peer refused is sent again once. Without this, such calls end with
	 * RPC_UNAVAILABLE. */
	bool redials;
	/* Called once when the connection is ready: the peer's SETTINGS frame has arrived. May be NULL. */
	void (*on_ready)(struct rpc_channel *channel, void *user);
	/* Called once when the first connection is lost or refused or its peer sends GOAWAY; may be
	 * NULL. */
	void (*on_lost)(struct rpc_channel *channel, const struct error *why, void *user);
	void *user;
};

/* Starts to connect. Calls made before the connection is ready wait for it (their deadline counts).
 * A connection that cannot be made ends them with RPC_UNAVAILABLE. `options` may be NULL. Errors:
 * those of address_parse(), ERROR_MEMORY, ERROR_IO. */
int rpc_channel_open(uv_loop_t *loop, const char *address,
		     const struct rpc_channel_options *options, struct rpc_channel **out,
		     struct error *err);

/* Runs the loop until the connection is ready, which is when the server's SETTINGS frame has arrived:
 * a server that accepts and stays silent does not count. ERROR_TIMEOUT, ERROR_UNAVAILABLE. */
int rpc_channel_connect_wait(struct rpc_channel *channel, uint64_t timeout_ms, struct error *err);

/* Ends every call with RPC_CANCELLED (their on_done runs before this returns) and closes the
 * connection; the memory is freed when libuv has closed its handles. NULL is allowed. */
void rpc_channel_close(struct rpc_channel *channel);

struct rpc_call_request {
	const char *method; /* "/package.Service/Method" */
	struct rpc_slice message;
	uint64_t timeout_ms; /* 0: no deadline, and no grpc-timeout is sent */
};

struct rpc_call_events {
	/* One complete message of the response; borrowed. A unary call gets at most one. */
	void (*on_message)(struct rpc_call *call, struct rpc_slice message, void *user);
	/* The end, exactly once for each started call. The call is gone when it returns. */
	void (*on_done)(const struct rpc_status *status, void *user);
};

/* Starts a unary or server-streaming call. `message` is copied. `out` may be NULL.
 * on_done never runs before this returns. Errors: ERROR_LIMIT (message), ERROR_UNAVAILABLE
 * (the connection has used up its stream numbers), ERROR_MEMORY; on_done is not
 * called then. */
int rpc_call_start(struct rpc_channel *channel, const struct rpc_call_request *request,
		   const struct rpc_call_events *events, void *user, struct rpc_call **out,
		   struct error *err);

/* Ends the call with RPC_CANCELLED: RST_STREAM(CANCEL) goes to the peer, on_done runs before
 * return. */
void rpc_call_cancel(struct rpc_call *call);

/* While paused no message is delivered and the stream's window is not opened further, so the server
 * is held back by flow control. */
void rpc_call_pause(struct rpc_call *call);
void rpc_call_resume(struct rpc_call *call);

/*
 * Typed unary calls over protobuf-c.
 */

/* `reply` is NULL unless status->code is RPC_OK; the callee takes ownership of it
 * (protobuf_c_message_free_unpacked). A reply that cannot be parsed ends with RPC_INTERNAL. */
typedef void rpc_reply_fn(const struct rpc_status *status, ProtobufCMessage *reply, void *user);

int rpc_unary(struct rpc_channel *channel, const char *method, const ProtobufCMessage *request,
	      const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms, rpc_reply_fn *done,
	      void *user, struct rpc_call **out, struct error *err);

/* A unary call during which the loop runs. */
struct rpc_unary_call {
	const char *method;
	const ProtobufCMessage *request;
	const ProtobufCMessageDescriptor *reply_type;
	uint64_t timeout_ms;  /* sent as grpc-timeout; 0: none */
	uint64_t patience_ms; /* when it passes the call is cancelled: ERROR_TIMEOUT; 0: for ever */
	bool (*stop)(void *user); /* true cancels the call: ERROR_CANCELLED; may be NULL */
	void *user;
};

struct rpc_answer {
	int code;		 /* gRPC status; RPC_NO_STATUS: none */
	char *message;		 /* the complete grpc-message; "" when absent */
	ProtobufCMessage *reply; /* NULL unless code is RPC_OK */
	uint64_t duration_ms;
};

/* Runs the loop until the call ends, also with a status other than OK. After an error *out is
 * empty. */
int rpc_unary_answer(struct rpc_channel *channel, const struct rpc_unary_call *call,
		     struct rpc_answer *out, struct error *err);
void rpc_answer_free(struct rpc_answer *answer);
#define CLEANUP_RPC_ANSWER CLEANUP(rpc_answer_free)

/* Runs the loop until the call ends. A gRPC status other than OK is ERROR_REMOTE with err->remote
 * the status code and the text "METHOD: NOT_FOUND: message". Caller frees *reply. `reply` may be
 * NULL. */
int rpc_unary_wait(struct rpc_channel *channel, const char *method, const ProtobufCMessage *request,
		   const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms,
		   ProtobufCMessage **reply, struct error *err);

/* The loop that the channel was opened on. */
uv_loop_t *rpc_channel_loop(const struct rpc_channel *channel);

/* The process that serves a connected channel's socket; 0: unknown (other systems than Linux, other
 * addresses than socket files, a process of another namespace). */
int rpc_channel_peer(const struct rpc_channel *channel);

/* How many concurrent streams the peer allows on the connection (RFC 9113, 6.5.2); UINT32_MAX: any number. */
uint32_t rpc_channel_streams_max(const struct rpc_channel *channel);
