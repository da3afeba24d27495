/* SPDX-License-Identifier: MIT */
#include "rpc/connection.h"

#include "base/clock.h"

#include <stddef.h>
#include <stdlib.h>

enum { INPUT_SIZE = 64 * 1024 };

static void fail(struct connection *connection, int uv_status, const char *what)
{
	struct error why = {0};
	connection->up = false;
	if (uv_status == UV_EOF || uv_status == UV_ECONNRESET || uv_status == UV_EPIPE)
		(void)error_set(&why, ERROR_UNAVAILABLE, "the peer closed the connection");
	else
		(void)error_uv(&why, uv_status, "%s", what);
	session_fail(connection->session, &why);
}

static void on_written(uv_write_t *write, int status)
{
	struct connection *connection = write->data;
	connection->writing = false;
	if (!connection->transport.open)
		return;
	text_reset(&connection->session->output);
	if (status < 0)
		fail(connection, status, "cannot write");
	session_run(connection->session);
}

/* Writes session->output; the part that the socket does not accept yet stays there. */
static void write_output(struct connection *connection)
{
	struct text *output = &connection->session->output;
	uv_buf_t bytes = uv_buf_init(output->data, (unsigned)output->size);
	int written = uv_try_write(&connection->transport.stream, &bytes, 1);
	if (written == (int)output->size) {
		text_reset(output);
		return;
	}
	if (written < 0 && written != UV_EAGAIN) {
		text_reset(output);
		fail(connection, written, "cannot write");
		return;
	}
	if (written > 0)
		bytes = uv_buf_init(output->data + written,
				    (unsigned)output->size - (unsigned)written);
	connection->write.data = connection;
	written =
		uv_write(&connection->write, &connection->transport.stream, &bytes, 1, on_written);
	connection->writing = written == 0;
	if (written < 0)
		fail(connection, written, "cannot write");
}

static void flush(struct session *session)
{
	struct connection *connection = session->transport_data;
	while (connection->up && !connection->writing && session_produce(session))
		write_output(connection);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct connection *connection = ((struct transport *)handle->data)->user;
	(void)suggested;
	if (connection->input == NULL)
		connection->input = malloc(INPUT_SIZE);
	*buffer = uv_buf_init(connection->input, connection->input != NULL ? INPUT_SIZE : 0);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct connection *connection = ((struct transport *)stream->data)->user;
	const struct transport *transport = &connection->transport;
	const uint8_t *data = (const uint8_t *)buffer->base;
	struct error why = {0};
	if (size == 0)
		return;
	if (size < 0)
		fail(connection, (int)size, "cannot read");

	/* The greeting comes first; the rest belongs to the session. */
	for (; !connection->up && size > 0; size--) {
		if (*data++ != transport->nonce[connection->greeting_seen++])
			connection->greeting_is_wrong = true;
		connection->up = connection->greeting_seen == RENDEZVOUS_NONCE_SIZE;
	}
	if (connection->up && connection->greeting_is_wrong) {
		connection->up = false;
		(void)error_set(&why, ERROR_PERMISSION, "the peer does not know the nonce");
		session_fail(connection->session, &why);
	} else if (size > 0) {
		session_receive(connection->session, data, (size_t)size);
	}
	session_run(connection->session);
}

static void arm_timer(struct connection *connection, uint64_t at_ms);

static void on_timer(uv_timer_t *timer)
{
	struct connection *connection = timer->data;
	struct session *session = connection->session;
	uint64_t now_ms = clock_monotonic_ms();
	struct error why = {0};
	connection->timer_ms = UINT64_MAX;
	uint64_t next_ms = session_expire(session, now_ms);
	if (session->settled)
		connection->settle_ms = UINT64_MAX;
	if (connection->settle_ms <= now_ms) {
		connection->settle_ms = UINT64_MAX;
		(void)error_set(&why, ERROR_TIMEOUT, "the peer did not speak HTTP/2 in time");
		session_fail(session, &why);
	}
	if (connection->settle_ms < next_ms)
		next_ms = connection->settle_ms;
	arm_timer(connection, next_ms);
	session_run(session);
}

static void arm_timer(struct connection *connection, uint64_t at_ms)
{
	uint64_t now_ms = clock_monotonic_ms();
	if (at_ms >= connection->timer_ms || !connection->timer_open)
		return;
	connection->timer_ms = at_ms;
	uv_update_time(connection->timer.loop);
	(void)uv_timer_start(&connection->timer, on_timer, at_ms > now_ms ? at_ms - now_ms : 0, 0);
}

static void wake_at(struct session *session, uint64_t deadline_ms)
{
	arm_timer(session->transport_data, deadline_ms);
}

const struct session_transport connection_transport = {
	.flush = flush,
	.wake_at = wake_at,
};

void connection_init(struct connection *connection, uv_loop_t *loop, struct session *session,
		     void (*on_closed)(struct connection *connection))
{
	*connection = (struct connection){
		.session = session,
		.on_closed = on_closed,
		.timer_ms = UINT64_MAX,
		.settle_ms = UINT64_MAX,
	};
	socket_ignore_sigpipe();
	(void)uv_timer_init(loop, &connection->timer);
	connection->timer.data = connection;
	connection->timer_open = true;
	connection->handles = 1;
	session->transport_data = connection;
}

void connection_start(struct connection *connection)
{
	struct transport *transport = &connection->transport;
	int rc = uv_read_start(&transport->stream, on_alloc, on_read);
	connection->up = transport->greeting != TRANSPORT_IS_GREETED;
	if (transport->greeting == TRANSPORT_GREETS)
		text_append(&connection->session->output, (const char *)transport->nonce,
			    sizeof(transport->nonce));
	if (rc < 0)
		fail(connection, rc, "cannot read");
}

void connection_expect_settings(struct connection *connection, uint64_t timeout_ms)
{
	connection->settle_ms = clock_monotonic_ms() + timeout_ms;
	arm_timer(connection, connection->settle_ms);
}

static void handle_is_closed(struct connection *connection)
{
	if (--connection->handles > 0)
		return;
	free(connection->input);
	connection->on_closed(connection);
}

static void on_transport_closed(struct transport *transport)
{
	handle_is_closed(transport->user);
}

static void on_timer_closed(uv_handle_t *handle)
{
	handle_is_closed(handle->data);
}

void connection_cut(struct connection *connection)
{
	connection->up = false;
	if (!connection->transport.open)
		return;
	connection->handles++;
	transport_close(&connection->transport, on_transport_closed);
}

void connection_close(struct connection *connection)
{
	connection_cut(connection);
	if (!connection->timer_open)
		return;
	connection->timer_open = false;
	uv_close((uv_handle_t *)&connection->timer, on_timer_closed);
}
