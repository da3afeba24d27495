/* SPDX-License-Identifier: MIT */
#include "rpc/peer.h"

#include <stdlib.h>
#include <string.h>

const struct method *session_find_method(const struct session *session, const char *path)
{
	const struct rpc_server *server = ((const struct peer *)session)->server;
	for (size_t i = 0; i < server->method_count; i++) {
		if (strcmp(server->methods[i].path, path) == 0)
			return &server->methods[i];
	}
	return NULL;
}

bool session_has_service(const struct session *session, const char *name, size_t size)
{
	const struct rpc_server *server = ((const struct peer *)session)->server;
	for (size_t i = 0; i < server->method_count; i++) {
		const char *path = server->methods[i].path + 1;
		if (strncmp(path, name, size) == 0 && path[size] == '/')
			return true;
	}
	return false;
}

static void release_streams(struct peer *peer)
{
	for (struct exchange *exchange = peer->session.first; exchange != NULL;
	     exchange = exchange->next)
		stream_release((struct rpc_stream *)exchange);
}

static void on_lost(struct session *session, const struct error *why)
{
	struct peer *peer = (struct peer *)session;
	(void)why;
	release_streams(peer);
	connection_close(&peer->connection);
}

static const struct session_role server_role = {
	.is_server = true,
	.accept = stream_accept,
	.headers = stream_headers,
	.trailers = stream_trailers,
	.process = stream_process,
	.expire = stream_expire,
	.lost = on_lost,
	.destroy = stream_destroy,
};

int peer_new(struct rpc_server *server, const struct session_transport *transport,
	     struct peer **out, struct error *err)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	if (peer == NULL)
		return error_memory(err);
	int rc = session_init(&peer->session, &server_role, transport, &server->options.limits,
			      server->options.initial_window, err);
	if (rc < 0) {
		free(peer);
		return rc;
	}
	peer->server = server;
	peer->next = server->peers;
	if (server->peers != NULL)
		server->peers->previous = peer;
	server->peers = peer;
	*out = peer;
	return 0;
}

void peer_free(struct peer *peer)
{
	if (peer->previous != NULL)
		peer->previous->next = peer->next;
	else
		peer->server->peers = peer->next;
	if (peer->next != NULL)
		peer->next->previous = peer->previous;
	session_free(&peer->session);
	free(peer);
}

static void on_peer_closed(struct connection *connection)
{
	struct peer *peer = (struct peer *)connection->session;
	struct rpc_server *server = peer->server;
	peer_free(peer);
	server_settle(server);
}

void peer_accept(struct rpc_server *server, struct listener *listener)
{
	struct peer *peer = NULL;
	struct connection *connection = NULL;
	/* Without memory the connection stays in the backlog. */
	if (peer_new(server, &connection_transport, &peer, NULL) < 0)
		return;
	connection = &peer->connection;
	connection_init(connection, server->loop, &peer->session, on_peer_closed);
	if (listener_accept(listener, &connection->transport, connection) < 0) {
		peer_cut(peer);
		return;
	}
	connection_start(connection);
	connection_expect_settings(connection, server->options.preface_timeout_ms);
	session_run(&peer->session);
}

void peer_say_goaway(struct peer *peer)
{
	if (peer->session.ended)
		return;
	session_enter(&peer->session);
	session_say_goaway(&peer->session);
	session_leave(&peer->session);
}

/* RFC 9113, 6.8: calls in flight are still accepted. */
void peer_drain(struct peer *peer)
{
	struct session *session = &peer->session;
	if (session->ended || session->draining)
		return;
	session_enter(session);
	session->draining = true;
	(void)nghttp2_submit_shutdown_notice(session->http2);
	(void)nghttp2_submit_ping(session->http2, NGHTTP2_FLAG_NONE, NULL);
	session_leave(session);
}

void peer_abort_streams(struct peer *peer)
{
	struct exchange *next = NULL;
	if (peer->session.ended)
		return;
	session_enter(&peer->session);
	for (struct exchange *exchange = peer->session.first; exchange != NULL; exchange = next) {
		next = exchange->next;
		stream_abort((struct rpc_stream *)exchange, RPC_UNAVAILABLE,
			     "the server is shutting down");
	}
	session_leave(&peer->session);
}

void peer_cut(struct peer *peer)
{
	if (!peer->session.ended) {
		peer->session.ended = true;
		release_streams(peer);
	}
	connection_close(&peer->connection);
}
