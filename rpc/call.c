/* SPDX-License-Identifier: MIT */
#include "rpc/channel.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "rpc/headers.h"

#include <string.h>

struct rpc_call {
	struct exchange exchange; /* first: an exchange of the client role is a call */
	struct rpc_call_events events;
	void *user;
	int http_status; /* 0: no response yet */
	bool is_grpc;	 /* by the answer's content-type */
	bool headers_too_large;
	bool paused;
	bool waiting; /* to be sent when the connection is ready */
	bool resent;
	char *method;
	uint64_t timeout_ms;
	struct headers trailers;
};

void call_headers(struct exchange *exchange)
{
	struct rpc_call *call = (struct rpc_call *)exchange;
	const char *status = headers_get(&exchange->headers, ":status");
	struct headers received = exchange->headers;
	if (exchange->headers.too_large)
		call->headers_too_large = true;
	if (status != NULL && status[0] == '1')
		return; /* informational: the answer is still to come */
	if (status != NULL) {
		call->http_status = (int)strtol(status, NULL, 10);
		call->is_grpc =
			content_type_is_grpc(headers_get(&exchange->headers, "content-type"));
	}
	if (!exchange->input_ended)
		return;
	exchange->headers = call->trailers;
	call->trailers = received;
}

/* Ends the call; only the end of the stream is then outstanding. */
static void PRINTF_LIKE(3, 4) finish(struct rpc_call *call, int code, const char *format, ...)
{
	struct exchange *exchange = &call->exchange;
	struct text text CLEANUP_TEXT = {0};
	text_add_formatted(&text, format);
	exchange->released = true;
	exchange->deadline_ms = UINT64_MAX;
	if (!exchange->session->ended) {
		exchange_reset(exchange, NGHTTP2_CANCEL);
		exchange_ignore_input(exchange);
	}
	call->events.on_done(&(struct rpc_status){code, text_string(&text)}, call->user);
}

/* Sends a call that the peer refused on another connection: once when it had been sent, otherwise as often
 * as needed, as grpc-go ("transparent retry"). */
static bool resend(struct rpc_call *call)
{
	struct exchange *exchange = &call->exchange;
	struct rpc_channel *channel = (struct rpc_channel *)exchange->session;
	struct rpc_channel *owner = channel->owner != NULL ? channel->owner : channel;
	if (exchange->close_code != NGHTTP2_REFUSED_STREAM || call->http_status != 0 ||
	    (exchange->sent && call->resent) || owner->released)
		return false;
	struct rpc_channel *other = channel_for_call(owner);
	if (other == channel || channel_lost_reason(other) != NULL)
		return false;
	call->resent = call->resent || exchange->sent;
	exchange_move(exchange, &other->session);
	call->waiting = true;
	session_enter(&other->session);
	if (other->session.settled)
		call_send(exchange);
	session_leave(&other->session);
	return true;
}

/* Ends the call with the status in the peer's last header list or its RST_STREAM. */
static void finish_as_reported(struct rpc_call *call)
{
	struct exchange *exchange = &call->exchange;
	const char *code = headers_get(&call->trailers, "grpc-status");
	const char *message = headers_get(&call->trailers, "grpc-message");
	struct text text CLEANUP_TEXT = {0};
	bool truncated = exchange_has_input(exchange);
	if (exchange->input_ended && code != NULL) {
		percent_decode(&text, message != NULL ? message : "");
		if (status_parse(code) == RPC_OK && truncated)
			finish(call, RPC_INTERNAL, "the answer ended within a message");
		else
			finish(call, status_parse(code), "%s", text_string(&text));
		return;
	}
	if (exchange->input_ended) {
		finish(call, RPC_INTERNAL, "the server ended the stream without grpc-status");
		return;
	}
	if (resend(call))
		return;
	finish(call, status_of_reset(exchange->close_code), "the stream was reset (%s)",
	       nghttp2_http2_strerror(exchange->close_code));
}

void call_process(struct exchange *exchange)
{
	struct rpc_call *call = (struct rpc_call *)exchange;
	struct rpc_slice message = {0};
	struct error err = {0};
	bool whole = true;
	if (exchange->released || call->waiting)
		return;

	/* A response that does not come from a gRPC method gets the closest status. */
	bool is_answer = call->http_status == 0 || (call->http_status == 200 && call->is_grpc) ||
			 headers_get(&call->trailers, "grpc-status") != NULL;
	if (call->headers_too_large)
		finish(call, RPC_RESOURCE_EXHAUSTED, "the answer's header list exceeds %lu bytes",
		       (unsigned long)exchange->session->limits.header_list_max);
	else if (!is_answer && call->http_status != 200)
		finish(call, status_of_http(call->http_status), "HTTP status %d",
		       call->http_status);
	else if (!is_answer)
		finish(call, RPC_UNKNOWN, "the answer's content-type is not gRPC");

	while (!exchange->released && whole && !call->paused) {
		if (exchange_read(exchange, &whole, &message, &err) < 0)
			finish(call, frame_error_status(err.code), "%s", err.text);
		else if (whole)
			call->events.on_message(call, message, call->user);
	}
	if (!exchange->released && (exchange->input_ended ? !whole : exchange->closed))
		finish_as_reported(call);
}

void call_expire(struct exchange *exchange)
{
	struct rpc_call *call = (struct rpc_call *)exchange;
	const struct rpc_channel *channel = (const struct rpc_channel *)exchange->session;
	const struct error *lost = channel_lost_reason(channel);
	const uint32_t most = rpc_channel_streams_max(channel);
	if (exchange->released)
		return;
	exchange_wake(exchange);
	if (exchange->closed && lost != NULL)
		finish(call, RPC_UNAVAILABLE, "%s", lost->text);
	else if (!exchange->closed &&
		 nghttp2_session_find_stream(exchange->session->http2, exchange->id) == NULL)
		finish(call, RPC_DEADLINE_EXCEEDED,
		       "the deadline has passed; the request was not sent, because the peer allows "
		       "%u stream%s at a time on a connection",
		       (unsigned)most, most == 1 ? "" : "s");
	else
		finish(call, RPC_DEADLINE_EXCEEDED, "the deadline has passed");
}

void call_abort(struct exchange *exchange, int code, const char *message)
{
	struct rpc_call *call = (struct rpc_call *)exchange;
	if (!exchange->released)
		finish(call, code, "%s", message);
}

void call_destroy(struct exchange *exchange)
{
	struct rpc_call *call = (struct rpc_call *)exchange;
	headers_free(&call->trailers);
	free(call->method);
	free(call);
}

/* Sends the request's headers; the message follows. nghttp2 error. */
static int submit(struct rpc_call *call)
{
	struct rpc_channel *channel = (struct rpc_channel *)call->exchange.session;
	nghttp2_data_provider body = exchange_body(&call->exchange);
	char timeout[TIMEOUT_SIZE] = "";
	const nghttp2_nv fields[] = {
		header_field(":method", "POST"),
		header_field(":scheme", "http"),
		header_field(":path", call->method),
		header_field(":authority", channel->options.authority),
		header_field("content-type", "application/grpc"),
		header_field("user-agent", "gpucert/" GPUCERT_VERSION),
		header_field("te", "trailers"),
		header_field("grpc-accept-encoding", "identity"),
		header_field("grpc-timeout", timeout_format(call->timeout_ms, timeout)),
	};
	size_t count = ARRAY_SIZE(fields) - (call->timeout_ms == 0 ? 1 : 0);
	int id = nghttp2_submit_request(channel->session.http2, NULL, fields, count, &body,
					&call->exchange);
	if (id < 0)
		return id;
	call->exchange.id = id;
	call->exchange.closed = false;
	return 0;
}

void call_send(struct exchange *exchange)
{
	struct rpc_call *call = (struct rpc_call *)exchange;
	if (!call->waiting || exchange->released)
		return;
	call->waiting = false;
	if (submit(call) == 0)
		return;
	exchange_wake(exchange);
	finish(call, RPC_RESOURCE_EXHAUSTED, "out of memory");
}

static struct rpc_call *call_new(struct rpc_channel *channel,
				 const struct rpc_call_request *request,
				 const struct rpc_call_events *events, void *user)
{
	struct rpc_call *call = calloc(1, sizeof(*call));
	if (call == NULL)
		return NULL;
	exchange_attach(&channel_for_call(channel)->session, &call->exchange);
	call->exchange.closed = true; /* until there is a stream */
	call->exchange.output_last = true;
	call->events = *events;
	call->user = user;
	call->timeout_ms = request->timeout_ms;
	call->method = strdup(request->method);
	uint8_t *bytes = exchange_message(&call->exchange, request->message.size);
	if (call->method == NULL || bytes == NULL) {
		exchange_destroy(&call->exchange);
		return NULL;
	}
	if (request->message.size > 0)
		memcpy(bytes, request->message.data, request->message.size);
	return call;
}

int rpc_call_start(struct rpc_channel *channel, const struct rpc_call_request *request,
		   const struct rpc_call_events *events, void *user, struct rpc_call **out,
		   struct error *err)
{
	size_t max = channel->session.limits.message_max;
	if (request->message.size > max)
		return error_set(err, ERROR_LIMIT, "%s: request of %zu bytes; the limit is %zu",
				 request->method, request->message.size, max);
	struct rpc_call *call = call_new(channel, request, events, user);
	if (call == NULL)
		return error_memory(err);

	struct exchange *exchange = &call->exchange;
	struct session *session = exchange->session;
	int rc = 0;
	if (channel_lost_reason((struct rpc_channel *)session) != NULL) {
		exchange_set_deadline(exchange, 0); /* call_expire() reports why, in the loop */
	} else {
		session_enter(session);
		call->waiting = !session->settled;
		if (!call->waiting)
			rc = submit(call);
		if (rc < 0)
			exchange_destroy(exchange);
		else if (call->timeout_ms != 0)
			exchange_set_deadline(exchange, clock_monotonic_ms() + call->timeout_ms);
		session_leave(session);
	}
	if (rc == NGHTTP2_ERR_NOMEM)
		return error_memory(err);
	if (rc < 0)
		return error_set(err, ERROR_UNAVAILABLE, "%s: %s", request->method,
				 nghttp2_strerror(rc));
	if (out != NULL)
		*out = call;
	return 0;
}

void rpc_call_cancel(struct rpc_call *call)
{
	struct session *session = call->exchange.session;
	session_enter(session);
	call_abort(&call->exchange, RPC_CANCELLED, "the call was cancelled");
	exchange_wake(&call->exchange);
	session_leave(session);
}

void rpc_call_pause(struct rpc_call *call)
{
	call->paused = true;
}

void rpc_call_resume(struct rpc_call *call)
{
	struct session *session = call->exchange.session;
	session_enter(session);
	call->paused = false;
	exchange_wake(&call->exchange);
	session_leave(session);
}
