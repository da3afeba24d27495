/* SPDX-License-Identifier: MIT */
#include "rpc/channel.h"

#include "base/cleanup.h"
#include "rpc/loop.h"

#include <string.h>

/* grpc/grpc doc/connection-backoff.md, MIN_CONNECT_TIMEOUT */
enum { REDIAL_TIMEOUT_MS = 20 * 1000 };

static void report_lost(struct rpc_channel *channel, const struct error *why)
{
	if (channel->lost_reported || channel->released)
		return;
	channel->lost_reported = true;
	if (channel->options.on_lost != NULL)
		channel->options.on_lost(channel, why, channel->options.user);
}

/* Calls wait for the server's SETTINGS, which limit the number of streams. */
static void on_settled(struct session *session)
{
	struct rpc_channel *channel = (struct rpc_channel *)session;
	struct exchange *call = session->first;
	while (call != NULL && call->next != NULL)
		call = call->next;
	for (; call != NULL; call = call->previous) /* the oldest is the last of the list */
		call_send(call);
	if (channel->options.on_ready != NULL && !channel->released)
		channel->options.on_ready(channel, channel->options.user);
}

static void on_goaway(struct session *session)
{
	report_lost((struct rpc_channel *)session, &session->goaway);
}

static void abort_calls(struct rpc_channel *channel, int code, const char *message)
{
	struct exchange *next = NULL;
	for (struct exchange *call = channel->session.first; call != NULL; call = next) {
		next = call->next;
		call_abort(call, code, message);
	}
}

static void on_lost(struct session *session, const struct error *why)
{
	struct rpc_channel *channel = (struct rpc_channel *)session;
	/* A peer that closes after GOAWAY has already stated the reason. */
	if (session->goaway.code != 0)
		session->failure = session->goaway;
	else if (why->code == 0)
		(void)error_set(&session->failure, ERROR_UNAVAILABLE, "the connection was closed");
	connection_cut(&channel->connection);
	abort_calls(channel, RPC_UNAVAILABLE, session->failure.text);
	report_lost(channel, &session->failure);
	if (channel->owner != NULL)
		connection_close(&channel->connection); /* not closed by its owner */
}

const struct session_role client_role = {
	.is_server = false,
	.headers = call_headers,
	.process = call_process,
	.expire = call_expire,
	.settled = on_settled,
	.goaway = on_goaway,
	.lost = on_lost,
	.destroy = call_destroy,
};

const struct error *channel_lost_reason(const struct rpc_channel *channel)
{
	const struct session *session = &channel->session;
	if (session->goaway.code != 0)
		return &session->goaway;
	return session->ended || session->failing ? &session->failure : NULL;
}

int channel_new(const struct rpc_channel_options *options,
		const struct session_transport *transport, struct rpc_channel **out,
		struct error *err)
{
	static const struct rpc_channel_options defaults = {0};
	const struct rpc_channel_options *given = options != NULL ? options : &defaults;
	struct rpc_channel *channel = calloc(1, sizeof(*channel));
	if (channel == NULL)
		return error_memory(err);
	int rc = session_init(&channel->session, &client_role, transport, &given->limits,
			      given->initial_window, err);
	if (rc < 0) {
		free(channel);
		return rc;
	}
	channel->options = *given;
	channel->options.authority =
		strdup(given->authority != NULL ? given->authority : "localhost");
	if (channel->options.authority == NULL) {
		channel_free(channel);
		return error_memory(err);
	}
	*out = channel;
	return 0;
}

static void leave_owner(struct rpc_channel *channel)
{
	struct rpc_channel **link = &channel->owner->later;
	while (*link != channel)
		link = &(*link)->next;
	*link = channel->next;
	channel->owner = NULL;
}

void channel_free(struct rpc_channel *channel)
{
	if (channel->owner != NULL)
		leave_owner(channel);
	session_free(&channel->session);
	free((char *)(uintptr_t)channel->options.authority);
	free(channel->address);
	free(channel);
}

static void on_channel_closed(struct connection *connection)
{
	channel_free((struct rpc_channel *)connection->session);
}

static void on_connected(struct transport *transport, const struct error *why)
{
	struct connection *connection = transport->user;
	struct session *session = connection->session;
	if (why != NULL)
		session_fail(session, why);
	else
		connection_start(connection);
	session_run(session);
}

int rpc_channel_open(uv_loop_t *loop, const char *address,
		     const struct rpc_channel_options *options, struct rpc_channel **out,
		     struct error *err)
{
	struct rpc_channel *channel = NULL;
	struct connection *connection = NULL;
	struct address parsed;
	int rc = address_parse(address, ADDRESS_RULES_HERE, &parsed, err);
	if (rc < 0)
		return rc;
	rc = channel_new(options, &connection_transport, &channel, err);
	if (rc < 0)
		return rc;
	channel->loop = loop;
	connection = &channel->connection;
	connection_init(connection, loop, &channel->session, on_channel_closed);
	if (channel->options.redials) {
		channel->address = strdup(address);
		rc = channel->address != NULL ? 0 : error_memory(err);
	}
	if (rc == 0)
		rc = transport_connect(&connection->transport, loop, &parsed, on_connected,
				       connection, err);
	if (rc < 0)
		connection_close(connection);
	else
		*out = channel;
	return rc;
}

int rpc_channel_peer(const struct rpc_channel *channel)
{
	return transport_peer(&channel->connection.transport);
}

uint32_t rpc_channel_streams_max(const struct rpc_channel *channel)
{
	return nghttp2_session_get_remote_settings(channel->session.http2,
						   NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

struct rpc_channel *channel_for_call(struct rpc_channel *channel)
{
	struct rpc_channel *newest = channel->later != NULL ? channel->later : channel;
	struct rpc_channel_options options = channel->options;
	if (channel->address == NULL || channel->released || channel_lost_reason(newest) == NULL)
		return newest;
	options.redials = false;
	options.on_ready = NULL;
	options.on_lost = NULL;
	if (rpc_channel_open(channel->loop, channel->address, &options, &newest, NULL) < 0)
		return channel; /* the call then reports that it was lost */
	newest->owner = channel;
	newest->next = channel->later;
	channel->later = newest;
	connection_expect_settings(&newest->connection, REDIAL_TIMEOUT_MS);
	return newest;
}

static bool is_decided(void *user)
{
	const struct rpc_channel *channel = user;
	return channel->session.settled || channel->session.ended;
}

int rpc_channel_connect_wait(struct rpc_channel *channel, uint64_t timeout_ms, struct error *err)
{
	int rc = loop_wait(channel->loop, is_decided, channel, timeout_ms, "the connection", err);
	if (rc < 0)
		return rc;
	const struct error *lost = channel_lost_reason(channel);
	if (lost == NULL)
		return 0;
	return error_set(err, ERROR_UNAVAILABLE, "%s", lost->text);
}

void rpc_channel_close(struct rpc_channel *channel)
{
	struct session *session = NULL;
	if (channel == NULL || channel->released)
		return;
	session = &channel->session;
	channel->released = true;
	while (channel->later != NULL) {
		struct rpc_channel *later = channel->later;
		leave_owner(later);
		rpc_channel_close(later);
	}
	if (!session->ended) {
		(void)nghttp2_session_terminate_session(session->http2, NGHTTP2_NO_ERROR);
		session_flush(session);
		session->ended = true;
	}
	abort_calls(channel, RPC_CANCELLED, "the channel was closed");
	connection_close(&channel->connection);
}

uv_loop_t *rpc_channel_loop(const struct rpc_channel *channel)
{
	return channel->loop;
}
