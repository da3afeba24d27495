/* SPDX-License-Identifier: MIT */
#include "rpc/session.h"

#include "base/clock.h"

static struct exchange *exchange_of(nghttp2_session *http2, int32_t stream_id)
{
	return nghttp2_session_get_stream_user_data(http2, stream_id);
}

static int on_begin_headers(nghttp2_session *http2, const nghttp2_frame *frame, void *user)
{
	struct session *session = user;
	if (!session->role->is_server || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	struct exchange *exchange = session->role->accept(session);
	if (exchange == NULL)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	exchange->id = frame->hd.stream_id;
	(void)nghttp2_session_set_stream_user_data(http2, exchange->id, exchange);
	return 0;
}

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
		     void *user)
{
	struct session *session = user;
	struct exchange *exchange = exchange_of(http2, frame->hd.stream_id);
	(void)flags;
	if (exchange != NULL)
		headers_add(&exchange->headers, (struct rpc_slice){name, name_size},
			    (struct rpc_slice){value, value_size}, session->limits.header_list_max);
	return 0;
}

/* Streams that a peer opens and resets, or makes us reset, cost us more than the peer. */
static void count_reset(struct session *session)
{
	uint64_t second = clock_monotonic_ms() / 1000;
	struct error why = {0};
	if (second != session->reset_second) {
		session->reset_second = second;
		session->reset_count = 0;
	}
	if (++session->reset_count != session->limits.reset_rate_max + 1)
		return;
	(void)nghttp2_session_terminate_session(session->http2, NGHTTP2_ENHANCE_YOUR_CALM);
	(void)error_set(&why, ERROR_PROTOCOL, "more than %lu streams were reset within a second",
			(unsigned long)session->limits.reset_rate_max);
	session_fail(session, &why);
}

static int on_frame_recv(nghttp2_session *http2, const nghttp2_frame *frame, void *user)
{
	struct session *session = user;
	const nghttp2_goaway *goaway = &frame->goaway;
	struct text text CLEANUP_TEXT = {0};
	switch (frame->hd.type) {
	case NGHTTP2_SETTINGS:
		session->settled = true;
		return 0;
	case NGHTTP2_GOAWAY:
		if (session->goaway.code != 0)
			return 0;
		text_add_escaped(&text, (const char *)goaway->opaque_data,
				 goaway->opaque_data_len < 256 ? goaway->opaque_data_len : 256);
		(void)error_set(&session->goaway, ERROR_UNAVAILABLE,
				"the peer said GOAWAY (%s)%s%s",
				nghttp2_http2_strerror(goaway->error_code),
				text.size > 0 ? ": " : "", text_string(&text));
		return 0;
	case NGHTTP2_RST_STREAM:
		count_reset(session);
		return 0;
	case NGHTTP2_PING:
		if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0 && session->draining) {
			session->draining = false;
			session_say_goaway(session);
		}
		return 0;
	case NGHTTP2_HEADERS:
	case NGHTTP2_DATA:
		break;
	default:
		return 0;
	}
	struct exchange *exchange = exchange_of(http2, frame->hd.stream_id);
	if (exchange == NULL)
		return 0;
	if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
		exchange->input_ended = true;
	if (frame->hd.type == NGHTTP2_HEADERS) {
		session->role->headers(exchange);
		headers_reset(&exchange->headers);
	}
	exchange_wake(exchange);
	return 0;
}

static int on_data_chunk(nghttp2_session *http2, uint8_t flags, int32_t stream_id,
			 const uint8_t *data, size_t size, void *user)
{
	struct exchange *exchange = exchange_of(http2, stream_id);
	(void)flags;
	(void)user;
	/* The connection's window never limits the peer: each stream has its own. */
	(void)nghttp2_session_consume_connection(http2, size);
	if (exchange == NULL || exchange->input_ignored) {
		(void)nghttp2_session_consume_stream(http2, stream_id, size);
		return 0;
	}
	text_append(&exchange->input, (const char *)data, size);
	exchange_wake(exchange);
	return exchange->input.failed ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int on_stream_close(nghttp2_session *http2, int32_t stream_id, uint32_t error_code,
			   void *user)
{
	struct exchange *exchange = exchange_of(http2, stream_id);
	(void)user;
	if (exchange == NULL)
		return 0;
	exchange->closed = true;
	exchange->close_code = error_code;
	exchange_wake(exchange);
	return 0;
}

static int on_frame_send(nghttp2_session *http2, const nghttp2_frame *frame, void *user)
{
	struct session *session = user;
	struct exchange *exchange = exchange_of(http2, frame->hd.stream_id);
	if (exchange != NULL && frame->hd.type == NGHTTP2_HEADERS)
		exchange->sent = true;
	if (!session->role->is_server)
		return 0;
	/* A client that we did not cancel, but that made us refuse its stream. */
	if (frame->hd.type == NGHTTP2_RST_STREAM &&
	    frame->rst_stream.error_code != NGHTTP2_NO_ERROR &&
	    frame->rst_stream.error_code != NGHTTP2_CANCEL)
		count_reset(session);
	/* Our answer is complete; the rest of the request is not needed (RFC 9113, 8.1). */
	if (frame->hd.type == NGHTTP2_HEADERS && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 &&
	    nghttp2_session_get_stream_remote_close(http2, frame->hd.stream_id) == 0)
		(void)nghttp2_submit_rst_stream(http2, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
						NGHTTP2_NO_ERROR);
	return 0;
}

static int on_send_data(nghttp2_session *http2, nghttp2_frame *frame, const uint8_t *head,
			size_t size, nghttp2_data_source *source, void *user)
{
	struct session *session = user;
	struct exchange *exchange = source->ptr;
	(void)http2;
	(void)frame;
	if (session->output.size >= SESSION_OUTPUT_MAX)
		return NGHTTP2_ERR_WOULDBLOCK;
	text_append(&session->output, (const char *)head, 9);
	text_append(&session->output, exchange->output.data + exchange->output_start, size);
	exchange->output_start += size;
	if (exchange_has_output(exchange) || size == 0)
		return 0;
	if (session->flushes > exchange->output_flush) {
		exchange->output_taken = true;
		exchange_wake(exchange);
	}
	return 0;
}

void session_set_callbacks(nghttp2_session_callbacks *callbacks)
{
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
	nghttp2_session_callbacks_set_send_data_callback(callbacks, on_send_data);
}
