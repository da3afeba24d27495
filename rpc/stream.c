/* SPDX-License-Identifier: MIT */
#include "rpc/stream.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "rpc/message.h"
#include "rpc/percent.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a grpc-message before encoding: peers bound their header lists, some at 8 KiB. */
enum { STATUS_MESSAGE_MAX = 2048 };

struct rpc_stream *stream_new(struct session *session)
{
	struct rpc_stream *stream = calloc(1, sizeof(*stream));
	if (stream != NULL)
		exchange_attach(session, &stream->exchange);
	return stream;
}

void stream_destroy(struct exchange *exchange)
{
	struct rpc_stream *stream = (struct rpc_stream *)exchange;
	headers_free(&stream->request);
	headers_free(&stream->trailers);
	text_free(&stream->text);
	free(stream);
}

void stream_headers(struct exchange *exchange)
{
	struct rpc_stream *stream = (struct rpc_stream *)exchange;
	if (stream->has_request)
		return; /* a client's trailers mean nothing in gRPC */
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
			       NGHTTP2_CANCEL); /* the window is shut: trailers cannot pass */
	else
		rpc_stream_finish(stream, code, "%s", message);
}

void stream_expire(struct exchange *exchange)
{
	stream_abort((struct rpc_stream *)exchange, RPC_DEADLINE_EXCEEDED,
		     "the deadline has passed");
}

/* The fields behind the last message, or the whole answer when there was none. Caller frees. */
static nghttp2_nv *stream_status_fields(const struct rpc_stream *stream, bool alone, char code[4],
					struct rpc_metadata **extra, size_t *count)
{
	nghttp2_nv *fields = NULL;
	size_t extras = 0;
	*count = 0;
	if (headers_list(&stream->trailers, extra, &extras, NULL) < 0)
		return NULL;
	fields = calloc(4 + extras, sizeof(*fields));
	if (fields == NULL)
		return NULL;
	if (alone) {
		fields[(*count)++] = header_field(":status", "200");
		fields[(*count)++] = header_field("content-type", "application/grpc");
	}
	(void)snprintf(code, 4, "%d", stream->code);
	fields[(*count)++] = header_field("grpc-status", code);
	if (stream->text.size > 0)
		fields[(*count)++] = header_field("grpc-message", text_string(&stream->text));
	for (size_t i = 0; i < extras; i++)
		fields[(*count)++] = header_field((*extra)[i].name, (*extra)[i].value);
	return fields;
}

int stream_trailers(struct exchange *exchange)
{
	const struct rpc_stream *stream = (const struct rpc_stream *)exchange;
	struct rpc_metadata *extra CLEANUP_FREE = NULL;
	char code[4] = "";
	size_t count = 0;
	nghttp2_nv *fields CLEANUP_FREE = stream_status_fields(stream, false, code, &extra, &count);
	if (fields == NULL)
		return NGHTTP2_ERR_NOMEM;
	return nghttp2_submit_trailer(exchange->session->http2, exchange->id, fields, count);
}

/* HEADERS with END_STREAM: "Trailers-Only". */
static int stream_submit_status(struct rpc_stream *stream)
{
	struct exchange *exchange = &stream->exchange;
	struct rpc_metadata *extra CLEANUP_FREE = NULL;
	char code[4] = "";
	size_t count = 0;
	nghttp2_nv *fields CLEANUP_FREE = stream_status_fields(stream, true, code, &extra, &count);
	if (fields == NULL)
		return NGHTTP2_ERR_NOMEM;
	return nghttp2_submit_response(exchange->session->http2, exchange->id, fields, count, NULL);
}

static int stream_submit_headers(struct rpc_stream *stream)
{
	struct exchange *exchange = &stream->exchange;
	nghttp2_data_provider body = exchange_body(exchange);
	nghttp2_nv fields[] = {
		header_field(":status", "200"),
		header_field("content-type", "application/grpc"),
	};
	return nghttp2_submit_response(exchange->session->http2, exchange->id, fields,
				       ARRAY_SIZE(fields), &body);
}

void stream_finish_http(struct rpc_stream *stream, const char *status)
{
	struct exchange *exchange = &stream->exchange;
	nghttp2_nv fields[] = {header_field(":status", status)};
	stream->finished = true;
	exchange_ignore_input(exchange);
	if (nghttp2_submit_response(exchange->session->http2, exchange->id, fields, 1, NULL) != 0)
		exchange_reset(exchange, NGHTTP2_INTERNAL_ERROR);
}

/* Is it the handler's to use? It is not once its end is decided. */
static int stream_check(const struct rpc_stream *stream, size_t size, struct error *err)
{
	const struct exchange *exchange = &stream->exchange;
	size_t max = exchange->session->limits.message_max;
	if (exchange->session->ended || exchange->closed || stream->finished)
		return error_set(err, ERROR_CANCELLED, "the stream has ended");
	if (size > max)
		return error_set(err, ERROR_LIMIT, "message of %zu bytes; the limit is %zu", size,
				 max);
	return 0;
}

/* Room for a message of `size` bytes, once the one before is gone. Inside session_enter(). */
static int stream_message(struct rpc_stream *stream, size_t size, uint8_t **bytes,
			  struct error *err)
{
	struct exchange *exchange = &stream->exchange;
	int rc = stream_check(stream, size, err);
	if (rc < 0)
		return rc;
	if (exchange_has_output(exchange))
		session_flush(exchange->session);
	if (exchange_has_output(exchange))
		return error_set(err, ERROR_BUSY, "the message before waits for the peer");
	*bytes = exchange_message(exchange, size);
	return *bytes != NULL ? 0 : error_memory(err);
}

static int stream_submit(struct rpc_stream *stream, struct error *err)
{
	if (stream->responded) {
		exchange_resume(&stream->exchange);
		return 0;
	}
	stream->responded = true;
	return stream_submit_headers(stream) == 0 ? 0 : error_memory(err);
}

int rpc_stream_send(struct rpc_stream *stream, struct rpc_slice message, struct error *err)
{
	struct session *session = stream->exchange.session;
	uint8_t *bytes = NULL;
	session_enter(session);
	int rc = stream_message(stream, message.size, &bytes, err);
	if (bytes != NULL) {
		if (message.size > 0)
			memcpy(bytes, message.data, message.size);
		rc = stream_submit(stream, err);
	}
	session_leave(session);
	return rc;
}

int rpc_stream_send_message(struct rpc_stream *stream, const ProtobufCMessage *message,
			    struct error *err)
{
	struct session *session = stream->exchange.session;
	uint8_t *bytes = NULL;
	session_enter(session);
	int rc = stream_message(stream, protobuf_c_message_get_packed_size(message), &bytes, err);
	if (bytes != NULL) {
		(void)protobuf_c_message_pack(message, bytes);
		rc = stream_submit(stream, err);
	}
	session_leave(session);
	return rc;
}

static void stream_set_text(struct rpc_stream *stream, const char *format, va_list args)
	PRINTF_LIKE(2, 0);

static void stream_set_text(struct rpc_stream *stream, const char *format, va_list args)
{
	struct text plain CLEANUP_TEXT = {0};
	text_vaddf(&plain, format, args);
	if (plain.size > STATUS_MESSAGE_MAX) {
		size_t size = STATUS_MESSAGE_MAX;
		while (size > 0 && ((unsigned char)plain.data[size] & 0xc0) == 0x80)
			size--;
		plain.data[size] = '\0';
	}
	percent_encode(&stream->text, text_string(&plain));
}

void rpc_stream_finish(struct rpc_stream *stream, int code, const char *format, ...)
{
	struct exchange *exchange = &stream->exchange;
	va_list args;
	int rc = 0;
	if (stream->finished || exchange->closed || exchange->session->ended)
		return;
	session_enter(exchange->session);
	stream->finished = true;
	stream->code = code >= RPC_OK && code <= 999 ? code : RPC_UNKNOWN;
	va_start(args, format);
	stream_set_text(stream, format, args);
	va_end(args);
	if (!stream->dispatched)
		exchange_ignore_input(
			exchange); /* otherwise the handler may still read the request */
	exchange->output_last = true;
	if (stream->responded)
		exchange_resume(exchange);
	else
		rc = stream_submit_status(stream);
	if (rc != 0)
		exchange_reset(exchange, NGHTTP2_INTERNAL_ERROR);
	session_leave(exchange->session);
}

void rpc_stream_reply(struct rpc_stream *stream, const ProtobufCMessage *message)
{
	struct session *session = stream->exchange.session;
	struct error err = {0};

	session_enter(session);
	int rc = rpc_stream_send_message(stream, message, &err);
	if (rc == 0)
		rpc_stream_finish(stream, RPC_OK, "%s", "");
	else
		rpc_stream_finish(stream, rc == ERROR_LIMIT ? RPC_RESOURCE_EXHAUSTED : RPC_INTERNAL,
				  "%s", err.text);
	session_leave(session);
}

int rpc_stream_add_trailer(struct rpc_stream *stream, const struct rpc_metadata *trailer,
			   struct error *err)
{
	int rc = metadata_check(trailer, err);
	if (rc < 0)
		return rc;
	headers_add(&stream->trailers, slice_of(trailer->name), slice_of(trailer->value),
		    stream->exchange.session->limits.header_list_max);
	if (stream->trailers.too_large)
		return error_set(err, ERROR_LIMIT, "the trailers are too large");
	return 0;
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

const char *rpc_stream_metadata(const struct rpc_stream *stream, const char *name)
{
	return headers_get(&stream->request, name);
}

ProtobufCMessage *rpc_stream_unpack(struct rpc_stream *stream, struct rpc_slice request,
				    const ProtobufCMessageDescriptor *type)
{
	ProtobufCMessage *message = NULL;
	if (message_unpack(type, request, &message) != NULL)
		rpc_stream_finish(stream, RPC_INVALID_ARGUMENT, "the request is no valid %s",
				  type->name);
	return message;
}
