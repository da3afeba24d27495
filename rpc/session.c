/* SPDX-License-Identifier: MIT */
#include "rpc/session.h"

enum {
	MESSAGE_MAX_DEFAULT = 4 * 1024 * 1024,
	HEADER_LIST_MAX_DEFAULT = 16 * 1024,
	CONCURRENT_STREAMS_DEFAULT = 256,
	RESET_RATE_DEFAULT = 200,
	CONNECTION_WINDOW = 1024 * 1024,
	INITIAL_WINDOW_DEFAULT = 65535,
	OUTPUT_KEPT_CAPACITY = 128 * 1024,
};

static int new_http2(struct session *session)
{
	nghttp2_session_callbacks *callbacks = NULL;
	nghttp2_option *option = NULL;
	int rc = nghttp2_session_callbacks_new(&callbacks);
	if (rc == 0)
		rc = nghttp2_option_new(&option);
	if (rc == 0) {
		session_set_callbacks(callbacks);
		nghttp2_option_set_no_auto_window_update(option, 1);
		nghttp2_option_set_no_closed_streams(option, 1);
		/* The server checks headers itself and accepts any :authority, even socket paths. */
		nghttp2_option_set_no_http_messaging(option, session->role->is_server);
		if (session->role->is_server)
			rc = nghttp2_session_server_new2(&session->http2, callbacks, session,
							 option);
		else
			rc = nghttp2_session_client_new2(&session->http2, callbacks, session,
							 option);
	}
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
	return rc;
}

int session_init(struct session *session, const struct session_role *role,
		 const struct session_transport *transport, const struct rpc_limits *limits,
		 uint32_t initial_window, struct error *err)
{
	*session = (struct session){.role = role, .transport = transport};
	session->ready_end = &session->ready_first;
	struct rpc_limits *filled = &session->limits;
	*filled = *limits;
	if (filled->message_max == 0)
		filled->message_max = MESSAGE_MAX_DEFAULT;
	if (filled->header_list_max == 0)
		filled->header_list_max = HEADER_LIST_MAX_DEFAULT;
	if (filled->concurrent_streams_max == 0)
		filled->concurrent_streams_max = CONCURRENT_STREAMS_DEFAULT;
	if (filled->reset_rate_max == 0)
		filled->reset_rate_max = RESET_RATE_DEFAULT;

	nghttp2_settings_entry settings[3] = {
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, filled->header_list_max},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
		 initial_window != 0 ? initial_window : INITIAL_WINDOW_DEFAULT},
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
	};
	if (role->is_server)
		settings[2] = (nghttp2_settings_entry){NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
						       filled->concurrent_streams_max};
	int rc = new_http2(session);
	if (rc == 0)
		rc = nghttp2_submit_settings(session->http2, NGHTTP2_FLAG_NONE, settings, 3);
	if (rc == 0)
		rc = nghttp2_session_set_local_window_size(session->http2, NGHTTP2_FLAG_NONE, 0,
							   CONNECTION_WINDOW);
	if (rc == 0)
		return 0;
	session_free(session);
	if (rc == NGHTTP2_ERR_NOMEM)
		return error_memory(err);
	return error_set(err, ERROR_ARGUMENT, "cannot start an HTTP/2 session: %s",
			 nghttp2_strerror(rc));
}

void session_free(struct session *session)
{
	/* nghttp2 first: it may still point to exchanges. */
	nghttp2_session_del(session->http2);
	session->http2 = NULL;
	while (session->first != NULL)
		exchange_destroy(session->first);
	text_free(&session->output);
}

void session_enter(struct session *session)
{
	session->depth++;
}

static struct exchange *next_ready(struct session *session)
{
	struct exchange *exchange = session->ready_first;
	if (exchange == NULL)
		return NULL;
	session->ready_first = exchange->next_ready;
	if (session->ready_first == NULL)
		session->ready_end = &session->ready_first;
	exchange->next_ready = NULL;
	exchange->is_ready = false;
	return exchange;
}

void session_flush(struct session *session)
{
	session->flushes++;
	session->transport->flush(session);
}

/* Both sides are done with each other and everything was written. */
static bool is_finished(const struct session *session)
{
	return session->output.size == 0 && !nghttp2_session_want_read(session->http2) &&
	       !nghttp2_session_want_write(session->http2);
}

void session_leave(struct session *session)
{
	session->depth--;
	if (session->depth > 0)
		return;
	if (!session->ended)
		session_flush(session);
	if (session->ready_first != NULL || session->failing ||
	    (!session->ended && is_finished(session)))
		session->transport->wake_at(session, 0);
}

void session_run(struct session *session)
{
	const struct session_role *role = session->role;
	struct exchange *exchange = NULL;
	session->depth++;
	for (;;) {
		if (!session->ended && session->settled && !session->settled_reported) {
			session->settled_reported = true;
			if (role->settled != NULL)
				role->settled(session);
		}
		if (!session->ended && session->goaway.code != 0 && role->goaway != NULL)
			role->goaway(session);

		while ((exchange = next_ready(session)) != NULL) {
			if (!session->ended)
				role->process(exchange);
			if (exchange->closed && exchange->released && !exchange->is_ready)
				exchange_destroy(exchange);
		}
		if (session->ended)
			break;
		session_flush(session);
		if (session->ready_first != NULL)
			continue;
		if (session->failing || is_finished(session)) {
			session->ended = true;
			role->lost(session, &session->failure);
		}
		break;
	}
	session->depth--;
}

void session_receive(struct session *session, const uint8_t *data, size_t size)
{
	struct error why = {0};
	if (session->ended || session->failing)
		return;
	ssize_t rc = nghttp2_session_mem_recv(session->http2, data, size);
	if (rc >= 0)
		return;
	(void)error_set(&why, ERROR_PROTOCOL, "HTTP/2: %s", nghttp2_strerror((int)rc));
	session_fail(session, &why);
}

bool session_produce(struct session *session)
{
	size_t before = session->output.size;
	struct error why = {0};
	if (session->output.capacity > OUTPUT_KEPT_CAPACITY && session->output.size == 0)
		text_free(&session->output);
	while (session->output.size < SESSION_OUTPUT_MAX) {
		const uint8_t *data = NULL;
		ssize_t size = nghttp2_session_mem_send(session->http2, &data);
		if (size < 0) {
			(void)error_set(&why, ERROR_PROTOCOL, "HTTP/2: %s",
					nghttp2_strerror((int)size));
			session_fail(session, &why);
			break;
		}
		if (size == 0)
			break;
		text_append(&session->output, (const char *)data, (size_t)size);
	}
	if (session->output.failed) {
		(void)error_memory(&why);
		session_fail(session, &why);
		return false;
	}
	return session->output.size > before;
}

void session_say_goaway(struct session *session)
{
	(void)nghttp2_submit_goaway(session->http2, NGHTTP2_FLAG_NONE,
				    nghttp2_session_get_last_proc_stream_id(session->http2),
				    NGHTTP2_NO_ERROR, NULL, 0);
}

void session_fail(struct session *session, const struct error *why)
{
	if (session->failing)
		return;
	session->failing = true;
	session->failure = *why;
}

uint64_t session_expire(struct session *session, uint64_t now_ms)
{
	uint64_t next_ms = UINT64_MAX;
	struct exchange *next = NULL;
	for (struct exchange *exchange = session->first; exchange != NULL; exchange = next) {
		next = exchange->next; /* only session_run() destroys exchanges */
		if (exchange->deadline_ms <= now_ms) {
			exchange->deadline_ms = UINT64_MAX;
			session->role->expire(exchange);
		} else if (exchange->deadline_ms < next_ms) {
			next_ms = exchange->deadline_ms;
		}
	}
	return next_ms;
}
