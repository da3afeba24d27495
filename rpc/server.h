/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * gRPC server: methods are added by path, handlers answer now or later on their stream.
 */

#include "rpc/rpc.h"

#include <protobuf-c/protobuf-c.h>
#include <uv.h>

struct rpc_server;
struct rpc_stream;

struct rpc_server_options {
	struct rpc_limits limits;
	unsigned socket_mode;	     /* of the socket file; default 0600 */
	uint64_t preface_timeout_ms; /* a connection that sends no preface by then is closed;
					default 10 s */
	uint32_t initial_window;     /* bytes a client may send ahead on a stream; default 65535 */
};

int rpc_server_new(uv_loop_t *loop, const struct rpc_server_options *options,
		   struct rpc_server **out, struct error *err);

/* Called with the one request message of a call, borrowed. The handler answers on `stream` before
 * it returns or later; a stream stays open until it is finished or ends. */
typedef void rpc_handler(struct rpc_stream *stream, struct rpc_slice request, void *user);

/* Before rpc_server_listen(). `method` is "/package.Service/Method" and is copied. Every other
 * method is answered with RPC_UNIMPLEMENTED. */
int rpc_server_add(struct rpc_server *server, const char *method, rpc_handler *handler, void *user,
		   struct error *err);

/* Binds and listens, once. The socket file may not exist (ERROR_EXISTS); a named pipe is
 * ERROR_UNSUPPORTED. */
int rpc_server_listen(struct rpc_server *server, const char *address, struct error *err);

/* Tells every client to make its new calls on a new connection; calls that are open or in flight
 * continue, and so does the server (GOAWAY, as by grpc-go's MaxConnectionAge). */
void rpc_server_say_goaway(struct rpc_server *server);

/* Stops accepting, removes the socket files that are still its own (same file), sends GOAWAY, lets
 * open streams finish for `grace_ms`, then ends them with RPC_UNAVAILABLE. `closed` runs last;
 * after it the server is gone. */
void rpc_server_shutdown(struct rpc_server *server, uint64_t grace_ms, void (*closed)(void *user),
			 void *user);

/* Ends everything at once, a shutdown under way included: streams end (on_end runs before this
 * returns), connections are cut, no callback comes. The memory is freed when libuv has closed its
 * handles. NULL is allowed. */
void rpc_server_close(struct rpc_server *server);

/*
 * Streams.
 */

/* Queues one message; the bytes are copied. ERROR_BUSY while an earlier message still waits for the
 * peer's flow-control window: try again from on_drain. ERROR_LIMIT: larger than message_max.
 * ERROR_CANCELLED: the client is gone, on_end is about to run. */
int rpc_stream_send(struct rpc_stream *stream, struct rpc_slice message, struct error *err);

/* Sends the trailers after the queued messages. The stream may not be used afterwards. `format` is
 * the grpc-message and is percent-encoded here; pass "%s", "" for none. */
void rpc_stream_finish(struct rpc_stream *stream, int code, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* Sends the message and finishes with RPC_OK. */
void rpc_stream_reply(struct rpc_stream *stream, const ProtobufCMessage *message);

/* `on_end` runs once when the stream is gone for any reason: finished and sent, cancelled by the
 * client, deadline passed, connection lost. Do not touch the stream in it or after it. */
void rpc_stream_on_end(struct rpc_stream *stream, void (*on_end)(void *user), void *user);

/* `on_drain` runs whenever a message that had to wait has been handed to the connection. */
void rpc_stream_on_drain(struct rpc_stream *stream,
			 void (*on_drain)(struct rpc_stream *, void *user), void *user);

/* Milliseconds left of the client's grpc-timeout; UINT64_MAX without one. */
uint64_t rpc_stream_time_left_ms(const struct rpc_stream *stream);

/* Unpacks a request; when it is malformed finishes the stream with RPC_INVALID_ARGUMENT and returns
 * NULL. Caller frees (protobuf_c_message_free_unpacked). */
ProtobufCMessage *rpc_stream_unpack(struct rpc_stream *stream, struct rpc_slice request,
				    const ProtobufCMessageDescriptor *type);
