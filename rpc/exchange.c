/* SPDX-License-Identifier: MIT */
#include "rpc/session.h"

#include <string.h>

/* A larger buffer is freed once the message was sent or read. */
enum { KEPT_CAPACITY = 64 * 1024 };

void exchange_attach(struct session *session, struct exchange *exchange)
{
	exchange->session = session;
	exchange->deadline_ms = UINT64_MAX;
	exchange->next = session->first;
	if (session->first != NULL)
		session->first->previous = exchange;
	session->first = exchange;
}

static void detach(struct exchange *exchange)
{
	if (exchange->previous != NULL)
		exchange->previous->next = exchange->next;
	else
		exchange->session->first = exchange->next;
	if (exchange->next != NULL)
		exchange->next->previous = exchange->previous;
	headers_free(&exchange->headers);
	text_free(&exchange->input);
}

void exchange_destroy(struct exchange *exchange)
{
	detach(exchange);
	text_free(&exchange->output);
	exchange->session->role->destroy(exchange);
}

void exchange_move(struct exchange *exchange, struct session *to)
{
	uint64_t deadline_ms = exchange->deadline_ms;
	detach(exchange);
	*exchange = (struct exchange){
		.closed = true,
		.output = exchange->output,
		.output_last = exchange->output_last,
	};
	exchange_attach(to, exchange);
	exchange->output_flush = to->flushes + 1;
	if (deadline_ms != UINT64_MAX)
		exchange_set_deadline(exchange, deadline_ms);
}

void exchange_wake(struct exchange *exchange)
{
	struct session *session = exchange->session;
	if (exchange->is_ready)
		return;
	exchange->is_ready = true;
	*session->ready_end = exchange;
	session->ready_end = &exchange->next_ready;
}

void exchange_set_deadline(struct exchange *exchange, uint64_t deadline_ms)
{
	exchange->deadline_ms = deadline_ms;
	exchange->session->transport->wake_at(exchange->session, deadline_ms);
}

/* Reopens the stream's window by the bytes before `end`. */
static void take_input(struct exchange *exchange, size_t end)
{
	if (end > exchange->input_taken && !exchange->closed && !exchange->input_ended)
		(void)nghttp2_session_consume_stream(exchange->session->http2, exchange->id,
						     end - exchange->input_taken);
	exchange->input_taken = end;
}

int exchange_read(struct exchange *exchange, bool *whole, struct rpc_slice *message,
		  struct error *err)
{
	struct text *input = &exchange->input;
	const size_t start = exchange->input_start;
	const size_t left = input->size - start;
	struct rpc_slice rest = {(const uint8_t *)text_string(input) + start, left};
	int rc = frame_read(rest, exchange->session->limits.message_max, whole, message, err);
	if (rc < 0)
		return rc;
	if (*whole) {
		exchange->input_start += FRAME_PREFIX_SIZE + message->size;
	} else {
		/* Drops the bytes that were read, so that a part of a message begins at the front. */
		if (left == 0 && input->capacity > KEPT_CAPACITY)
			text_free(input);
		else if (start > 0)
			memmove(input->data, input->data + start, left);
		input->size = left;
		exchange->input_taken -= start;
		exchange->input_start = 0;
	}
	take_input(exchange, *whole ? exchange->input_start : input->size);
	return 0;
}

bool exchange_has_input(const struct exchange *exchange)
{
	return exchange->input_start < exchange->input.size;
}

void exchange_drop_input(struct exchange *exchange)
{
	take_input(exchange, exchange->input.size);
	text_free(&exchange->input);
	exchange->input_start = 0;
	exchange->input_taken = 0;
}

void exchange_ignore_input(struct exchange *exchange)
{
	exchange_drop_input(exchange);
	exchange->input_ignored = true;
}

uint8_t *exchange_message(struct exchange *exchange, size_t size)
{
	struct text *output = &exchange->output;
	uint8_t prefix[FRAME_PREFIX_SIZE] = {0};
	if (output->capacity > KEPT_CAPACITY && output->capacity / 2 > size)
		text_free(output);
	text_reset(output);
	exchange->output_start = 0;
	frame_write_prefix(prefix, (uint32_t)size);
	text_append(output, (const char *)prefix, sizeof(prefix));
	if (text_extend(output, size) == NULL) {
		text_free(output);
		return NULL;
	}
	exchange->output_flush = exchange->session->flushes + 1;
	return (uint8_t *)output->data + FRAME_PREFIX_SIZE;
}

bool exchange_has_output(const struct exchange *exchange)
{
	return exchange->output_start < exchange->output.size;
}

void exchange_resume(struct exchange *exchange)
{
	/* Fails where the body is not deferred: then it is read anyway. */
	(void)nghttp2_session_resume_data(exchange->session->http2, exchange->id);
}

void exchange_reset(struct exchange *exchange, uint32_t http2_error)
{
	if (!exchange->closed)
		(void)nghttp2_submit_rst_stream(exchange->session->http2, NGHTTP2_FLAG_NONE,
						exchange->id, http2_error);
}

static ssize_t read_body(nghttp2_session *http2, int32_t stream_id, uint8_t *buffer, size_t length,
			 uint32_t *flags, nghttp2_data_source *source, void *user)
{
	struct exchange *exchange = source->ptr;
	const struct session_role *role = exchange->session->role;
	size_t left = exchange->output.size - exchange->output_start;
	size_t size = left < length ? left : length;
	(void)http2;
	(void)stream_id;
	(void)buffer;
	(void)user;
	if (left == 0 && !exchange->output_last)
		return NGHTTP2_ERR_DEFERRED;
	*flags |= NGHTTP2_DATA_FLAG_NO_COPY;
	if (size == left && exchange->output_last) {
		*flags |= NGHTTP2_DATA_FLAG_EOF;
		if (role->trailers != NULL) {
			*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
			if (role->trailers(exchange) < 0)
				return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
		}
	}
	return (ssize_t)size;
}

nghttp2_data_provider exchange_body(struct exchange *exchange)
{
	return (nghttp2_data_provider){.source.ptr = exchange, .read_callback = read_body};
}

nghttp2_nv header_field(const char *name, const char *value)
{
	return (nghttp2_nv){
		.name = (uint8_t *)(uintptr_t)name,
		.value = (uint8_t *)(uintptr_t)value,
		.namelen = strlen(name),
		.valuelen = strlen(value),
		.flags = NGHTTP2_NV_FLAG_NONE,
	};
}
