/* SPDX-License-Identifier: MIT */
/* Passes a request's headers and bytes to its handler, or refuses it with a status. */
#include "rpc/stream.h"

#include "base/clock.h"
#include "rpc/headers.h"

#include <string.h>

/* Is it HTTP as gRPC requires it? */
static bool check_http(struct rpc_stream *stream)
{
	const struct headers *request = &stream->request;
	const char *method = headers_get(request, ":method");
	if (request->too_large) {
		rpc_stream_finish(stream, RPC_RESOURCE_EXHAUSTED,
				  "the request's header list exceeds %lu bytes",
				  (unsigned long)stream->exchange.session->limits.header_list_max);
		return false;
	}
	if (request->malformed || method == NULL || headers_get(request, ":path") == NULL) {
		stream->finished = true;
		exchange_ignore_input(&stream->exchange);
		exchange_reset(&stream->exchange, NGHTTP2_PROTOCOL_ERROR);
		return false;
	}
	if (strcmp(method, "POST") != 0) {
		stream_finish_http(stream, "405");
		return false;
	}
	if (!content_type_is_grpc(headers_get(request, "content-type"))) {
		stream_finish_http(stream, "415");
		return false;
	}
	return true;
}

static bool check_grpc(struct rpc_stream *stream)
{
	const struct headers *request = &stream->request;
	const char *path = headers_get(request, ":path");
	const char *encoding = headers_get(request, "grpc-encoding");
	const char *timeout = headers_get(request, "grpc-timeout");
	uint64_t timeout_ms = 0;
	struct error err = {0};
	stream->method = session_find_method(stream->exchange.session, path);
	if (stream->method == NULL) {
		/* In the words of grpc-go's server. */
		const char *name = path[0] == '/' ? path + 1 : path;
		const char *slash = strrchr(name, '/');
		int size = slash == NULL ? 0 : (int)(slash - name);
		int shown = size < 256 ? size : 256;
		if (slash == NULL)
			rpc_stream_finish(stream, RPC_UNIMPLEMENTED,
					  "malformed method name: \"%.256s\"", path);
		else if (session_has_service(stream->exchange.session, name, (size_t)size))
			rpc_stream_finish(stream, RPC_UNIMPLEMENTED,
					  "unknown method %.256s for service %.*s", slash + 1,
					  shown, name);
		else
			rpc_stream_finish(stream, RPC_UNIMPLEMENTED, "unknown service %.*s", shown,
					  name);
		return false;
	}
	if (encoding != NULL && strcmp(encoding, "identity") != 0) {
		stream->encoding_refused = true;
		rpc_stream_finish(stream, RPC_UNIMPLEMENTED, "unknown grpc-encoding %.64s",
				  encoding);
		return false;
	}
	if (timeout == NULL)
		return true;
	if (timeout_parse(timeout, &timeout_ms, &err) < 0) {
		rpc_stream_finish(stream, RPC_INTERNAL, "%s", err.text);
		return false;
	}
	exchange_set_deadline(&stream->exchange, clock_monotonic_ms() + timeout_ms);
	return true;
}

void request_advance(struct rpc_stream *stream)
{
	struct exchange *exchange = &stream->exchange;
	struct error err = {0};
	int rc = 0;
	if (!stream->checked) {
		stream->checked = true;
		if (!check_http(stream) || !check_grpc(stream))
			return;
	}

	/* Source of the code for any number of messages but one: grpc/grpc doc/statuscodes.md,
	 * "cardinality violation". */
	if (!stream->has_message)
		rc = exchange_read(exchange, &stream->has_message, &stream->message, &err);
	if (rc < 0) {
		rpc_stream_finish(stream, frame_error_status(rc), "%s", err.text);
		return;
	}
	if (stream->has_message && exchange_has_input(exchange)) {
		rpc_stream_finish(stream, RPC_UNIMPLEMENTED, "expected one message, got more");
		return;
	}
	if (!exchange->input_ended)
		return;
	if (!stream->has_message) {
		if (exchange_has_input(exchange))
			rpc_stream_finish(stream, RPC_INTERNAL,
					  "the request ended within a message");
		else
			rpc_stream_finish(stream, RPC_UNIMPLEMENTED,
					  "expected one message, got none");
		return;
	}

	stream->dispatched = true;
	stream->method->handler(stream, stream->message, stream->method->user);
	stream->message = (struct rpc_slice){0};
	exchange_drop_input(exchange);
}
