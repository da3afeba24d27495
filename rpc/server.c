/* SPDX-License-Identifier: MIT */
#include "rpc/server.h"

#include "base/cleanup.h"
#include "rpc/peer.h"

#include <string.h>

enum {
	SOCKET_MODE_DEFAULT = 0600,
	PREFACE_TIMEOUT_DEFAULT_MS = 10 * 1000,
	LAST_WORDS_MS = 1000, /* for sending the trailers of a shutdown */
};

int rpc_server_new(uv_loop_t *loop, const struct rpc_server_options *options,
		   struct rpc_server **out, struct error *err)
{
	struct rpc_server *server = calloc(1, sizeof(*server));
	if (server == NULL)
		return error_memory(err);
	if (options != NULL)
		server->options = *options;
	if (server->options.preface_timeout_ms == 0)
		server->options.preface_timeout_ms = PREFACE_TIMEOUT_DEFAULT_MS;
	server->loop = loop;
	*out = server;
	return 0;
}

int rpc_server_add(struct rpc_server *server, const char *method, rpc_handler *handler, void *user,
		   struct error *err)
{
	struct method *grown = NULL;
	char *path CLEANUP_FREE = strdup(method);
	if (path == NULL)
		return error_memory(err);
	grown = reallocarray(server->methods, server->method_count + 1, sizeof(*grown));
	if (grown == NULL)
		return error_memory(err);
	server->methods = grown;
	grown[server->method_count++] =
		(struct method){.path = STEAL(path), .handler = handler, .user = user};
	return 0;
}

static void on_connection(struct listener *listener, void *user)
{
	struct rpc_server *server = user;
	if (!server->closing)
		peer_accept(server, listener);
}

int rpc_server_listen(struct rpc_server *server, const char *address, struct error *err)
{
	const struct listener_options options = {
		.mode = server->options.socket_mode != 0 ? server->options.socket_mode
							 : SOCKET_MODE_DEFAULT,
		.on_connection = on_connection,
		.user = server,
	};
	struct address parsed;
	int rc = address_parse(address, ADDRESS_RULES_HERE, &parsed, err);
	if (rc == 0)
		rc = listener_open(server->loop, &parsed, &options, &server->listener, err);
	server->listening = rc == 0;
	return rc;
}

void server_settle(struct rpc_server *server)
{
	void (*on_closed)(void *user) = server->on_closed;
	void *user = server->closed_user;
	if (!server->closing || server->peers != NULL || server->listening)
		return;
	timer_cancel(&server->grace);
	for (size_t i = 0; i < server->method_count; i++)
		free(server->methods[i].path);
	free(server->methods);
	free(server);
	if (on_closed != NULL)
		on_closed(user);
}

static void on_listener_closed(void *user)
{
	struct rpc_server *server = user;
	server->listening = false;
	server_settle(server);
}

static void stop_listening(struct rpc_server *server)
{
	struct listener *listener = STEAL(server->listener);
	server->closing = true;
	if (listener != NULL)
		listener_close(listener, on_listener_closed);
}

static void cut_peers(struct rpc_server *server)
{
	for (struct peer *peer = server->peers; peer != NULL; peer = peer->next)
		peer_cut(peer);
}

static void on_grace(void *user)
{
	struct rpc_server *server = user;
	if (server->last_words) {
		cut_peers(server);
		return;
	}
	server->last_words = true;
	for (struct peer *peer = server->peers; peer != NULL; peer = peer->next)
		peer_abort_streams(peer);
}

void rpc_server_say_goaway(struct rpc_server *server)
{
	for (struct peer *peer = server->peers; peer != NULL; peer = peer->next)
		peer_drain(peer);
}

void rpc_server_shutdown(struct rpc_server *server, uint64_t grace_ms, void (*closed)(void *user),
			 void *user)
{
	if (server->closing)
		return;
	server->on_closed = closed;
	server->closed_user = user;
	stop_listening(server);
	for (struct peer *peer = server->peers; peer != NULL; peer = peer->next)
		peer_say_goaway(peer);
	if (timer_start(server->loop, grace_ms, LAST_WORDS_MS, on_grace, server, &server->grace,
			NULL) != 0)
		cut_peers(server);
	server_settle(server);
}

void rpc_server_close(struct rpc_server *server)
{
	if (server == NULL)
		return;
	server->on_closed = NULL;
	stop_listening(server);
	cut_peers(server);
	server_settle(server);
}
