/* SPDX-License-Identifier: MIT */
#include "rpc/stream.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "rpc/headers.h"
#include "rpc/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a grpc-message before encoding: peers bound their header lists, some at 8 KiB. */
enum { STATUS_MESSAGE_MAX = 2048 };

struct exchange *stream_accept(struct session *session)
{
	struct rpc_stream *stream = calloc(1, sizeof(*stream));
	if (stream == NULL)
		return NULL;
	exchange_attach(session, &stream->exchange);
	return &stream->exchange;
}

void stream_destroy(struct exchange *exchange)
{
	struct rpc_stream *stream = (struct rpc_stream *)exchange;
	headers_free(&stream->request);
	text_free(&stream->text);
	free(stream);
}

void stream_headers(struct exchange *exchange)
{
	struct rpc_stream *stream = (struct rpc_stream *)exchange;
	if (stream->has_request)
		return; /* a client's trailers have no meaning in gRPC */
	stream->has_request = true;
	stream->request = exchange->headers;
	exchange->headers = (struct headers){0};
}

void stream_release(struct rpc_stream *stream)
{
	if (stream->exchange.released)
		return;
	stream->exchange.released = true;
	stream->exchange.deadline_ms = UINT64_MAX;
	if (stream->on_end != NULL)
		stream->on_end(stream->end_user);
}

void stream_process(struct exchange *exchange)
{
	struct rpc_stream *stream = (struct rpc_stream *)exchange;
	if (exchange->closed) {
		stream_release(stream);
		return;
	}
	if (exchange->output_taken) {
		exchange->output_taken = false;
		if (stream->on_drain != NULL && !stream->finished && !exchange->released)
			stream->on_drain(stream, stream->drain_user);
	}
	if (stream->has_request && !stream->dispatched && !stream->finished)
		request_advance(stream);
}

void stream_abort(struct rpc_stream *stream, int code, const char *message)
{
	struct exchange *exchange = &stream->exchange;
	stream_release(stream);
	if (exchange->closed)
		exchange_wake(exchange);
	else if (stream->finished || exchange_has_output(exchange))
		exchange_reset(exchange,
			       NGHTTP2_CANCEL); /* the window is closed: trailers cannot pass */
	else
		rpc_stream_finish(stream, code, "%s", message);
}

void stream_expire(struct exchange *exchange)
{
	stream_abort((struct rpc_stream *)exchange, RPC_DEADLINE_EXCEEDED,
		     "the deadline has passed");
}

enum { STATUS_FIELDS_MAX = 5 };

/* Makes the fields after the last message, or with `whole` a complete response without one; returns
 * their number. */
static size_t status_fields(const struct rpc_stream *stream, bool whole, char code[4],
			    nghttp2_nv fields[STATUS_FIELDS_MAX])
{
	size_t count = 0;
	if (whole) {
		fields[count++] = header_field(":status", "200");
		fields[count++] = header_field("content-type", "application/grpc");
	}
	(void)snprintf(code, 4, "%d", stream->code);
	fields[count++] = header_field("grpc-status", code);
	if (stream->text.size > 0)
		fields[count++] = header_field("grpc-message", text_string(&stream->text));
	if (stream->encoding_refused)
		fields[count++] = header_field("grpc-accept-encoding", "identity");
	return count;
}

int stream_trailers(struct exchange *exchange)
{
	nghttp2_nv fields[STATUS_FIELDS_MAX];
	char code[4] = "";
	size_t count = status_fields((struct rpc_stream *)exchange, false, code, fields);
	return nghttp2_submit_trailer(exchange->session->http2, exchange->id, fields, count);
}

static int respond(struct exchange *exchange, const nghttp2_nv *fields, size_t count,
		   const nghttp2_data_provider *body)
{
	return nghttp2_submit_response(exchange->session->http2, exchange->id, fields, count, body);
}

void stream_finish_http(struct rpc_stream *stream, const char *status)
{
	const nghttp2_nv fields[] = {header_field(":status", status)};
	stream->finished = true;
	exchange_ignore_input(&stream->exchange);
	if (respond(&stream->exchange, fields, 1, NULL) != 0)
		exchange_reset(&stream->exchange, NGHTTP2_INTERNAL_ERROR);
}

/* Inside session_enter(). */
static int send_message(struct rpc_stream *stream, struct rpc_slice message, struct error *err)
{
	const nghttp2_nv fields[] = {
		header_field(":status", "200"),
		header_field("content-type", "application/grpc"),
	};
	struct exchange *exchange = &stream->exchange;
	size_t max = exchange->session->limits.message_max;
	if (exchange->session->ended || exchange->closed || stream->finished)
		return error_set(err, ERROR_CANCELLED, "the stream has ended");
	if (message.size > max)
		return error_set(err, ERROR_LIMIT, "message of %zu bytes; the limit is %zu",
				 message.size, max);
	if (exchange_has_output(exchange))
		session_flush(exchange->session);
	if (exchange_has_output(exchange))
		return error_set(err, ERROR_BUSY, "the previous message still waits for the peer");
	uint8_t *bytes = exchange_message(exchange, message.size);
	if (bytes == NULL)
		return error_memory(err);
	if (message.size > 0)
		memcpy(bytes, message.data, message.size);
	if (stream->responded) {
		exchange_resume(exchange);
		return 0;
	}
	const nghttp2_data_provider body = exchange_body(exchange);
	stream->responded = true;
	return respond(exchange, fields, ARRAY_SIZE(fields), &body) == 0 ? 0 : error_memory(err);
}

int rpc_stream_send(struct rpc_stream *stream, struct rpc_slice message, struct error *err)
{
	struct session *session = stream->exchange.session;
	session_enter(session);
	int rc = send_message(stream, message, err);
	session_leave(session);
	return rc;
}

void rpc_stream_finish(struct rpc_stream *stream, int code, const char *format, ...)
{
	struct exchange *exchange = &stream->exchange;
	nghttp2_nv fields[STATUS_FIELDS_MAX];
	char plain[STATUS_MESSAGE_MAX + 2];
	char code_text[4] = "";
	va_list args;
	int rc = 0;
	if (stream->finished || exchange->closed || exchange->session->ended)
		return;
	session_enter(exchange->session);
	stream->finished = true;
	stream->code = code >= RPC_OK && code <= 999 ? code : RPC_UNKNOWN;
	va_start(args, format);
	(void)vsnprintf(plain, sizeof(plain), format, args);
	va_end(args);
	plain[text_fit(plain, strlen(plain), STATUS_MESSAGE_MAX)] = '\0';
	percent_encode(&stream->text, plain);
	if (!stream->dispatched)
		exchange_ignore_input(
			exchange); /* otherwise the handler may still read the request */
	exchange->output_last = true;
	if (stream->responded)
		exchange_resume(exchange);
	else
		rc = respond(exchange, fields, status_fields(stream, true, code_text, fields),
			     NULL);
	if (rc != 0)
		exchange_reset(exchange, NGHTTP2_INTERNAL_ERROR);
	session_leave(exchange->session);
}

void rpc_stream_reply(struct rpc_stream *stream, const ProtobufCMessage *message)
{
	struct session *session = stream->exchange.session;
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *bytes CLEANUP_FREE = malloc(size + 1);
	struct error err = {0};
	session_enter(session);
	int rc = bytes == NULL ? error_memory(&err) : 0;
	if (rc == 0)
		rc = send_message(
			stream, (struct rpc_slice){bytes, protobuf_c_message_pack(message, bytes)},
			&err);
	if (rc == 0)
		rpc_stream_finish(stream, RPC_OK, "%s", "");
	else
		rpc_stream_finish(stream, rc == ERROR_LIMIT ? RPC_RESOURCE_EXHAUSTED : RPC_INTERNAL,
				  "%s", err.text);
	session_leave(session);
}

void rpc_stream_on_end(struct rpc_stream *stream, void (*on_end)(void *user), void *user)
{
	stream->on_end = on_end;
	stream->end_user = user;
}

void rpc_stream_on_drain(struct rpc_stream *stream,
			 void (*on_drain)(struct rpc_stream *, void *user), void *user)
{
	stream->on_drain = on_drain;
	stream->drain_user = user;
}

uint64_t rpc_stream_time_left_ms(const struct rpc_stream *stream)
{
	uint64_t deadline_ms = stream->exchange.deadline_ms;
	uint64_t now_ms = clock_monotonic_ms();
	if (deadline_ms == UINT64_MAX)
		return UINT64_MAX;
	return deadline_ms > now_ms ? deadline_ms - now_ms : 0;
}

ProtobufCMessage *rpc_stream_unpack(struct rpc_stream *stream, struct rpc_slice request,
				    const ProtobufCMessageDescriptor *type)
{
	ProtobufCMessage *message = NULL;
	if (message_unpack(type, request, &message) != NULL)
		rpc_stream_finish(stream, RPC_INVALID_ARGUMENT, "the request is not a valid %s",
				  type->name);
	return message;
}
