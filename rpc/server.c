/* SPDX-License-Identifier: MIT */
#include "rpc/server.h"

#include "base/cleanup.h"
#include "rpc/peer.h"

#include <string.h>

enum {
	SOCKET_MODE_DEFAULT = 0600,
	PREFACE_TIMEOUT_DEFAULT_MS = 10 * 1000,
	INITIAL_WINDOW_DEFAULT = 65535,
	LAST_WORDS_MS = 1000, /* for a shutdown's trailers to get out */
};

int rpc_server_new(uv_loop_t *loop, const struct rpc_server_options *options,
		   struct rpc_server **out, struct error *err)
{
	struct rpc_server *server = calloc(1, sizeof(*server));
	if (server == NULL)
		return error_memory(err);
	if (options != NULL)
		server->options = *options;
	if (server->options.socket_mode == 0)
		server->options.socket_mode = SOCKET_MODE_DEFAULT;
	if (server->options.preface_timeout_ms == 0)
		server->options.preface_timeout_ms = PREFACE_TIMEOUT_DEFAULT_MS;
	if (server->options.initial_window == 0)
		server->options.initial_window = INITIAL_WINDOW_DEFAULT;
	server->loop = loop;
	(void)uv_timer_init(loop, &server->grace);
	server->grace.data = server;
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
	struct server_listener *own = user;
	if (!own->server->closing)
		peer_accept(own->server, listener);
}

static void on_listener_closed(void *user)
{
	struct server_listener *own = user;
	struct rpc_server *server = own->server;
	struct server_listener **link = &server->listeners;
	while (*link != own)
		link = &(*link)->next;
	*link = own->next;
	free(own);
	server_settle(server);
}

int rpc_server_listen(struct rpc_server *server, const char *address, struct error *err)
{
	struct server_listener *own CLEANUP_FREE = calloc(1, sizeof(*own));
	const struct listener_options options = {
		.mode = server->options.socket_mode,
		.on_connection = on_connection,
		.user = own,
	};
	struct address parsed;
	int rc = address_parse(address, ADDRESS_RULES_HERE, &parsed, err);
	if (rc < 0)
		return rc;
	if (own == NULL)
		return error_memory(err);
	rc = listener_open(server->loop, &parsed, &options, &own->listener, err);
	if (rc < 0)
		return rc;
	own->server = server;
	own->next = server->listeners;
	server->listeners = STEAL(own);
	return 0;
}

static void on_grace_closed(uv_handle_t *handle)
{
	struct rpc_server *server = handle->data;
	handle->data = NULL;
	server_settle(server);
}

void server_settle(struct rpc_server *server)
{
	void (*on_closed)(void *user) = server->on_closed;
	void *user = server->closed_user;

	if (!server->closing || server->peers != NULL || server->listeners != NULL)
		return;
	if (!uv_is_closing((uv_handle_t *)&server->grace))
		uv_close((uv_handle_t *)&server->grace, on_grace_closed);
	if (server->grace.data != NULL)
		return;
	for (size_t i = 0; i < server->method_count; i++)
		free(server->methods[i].path);
	free(server->methods);
	free(server);
	if (on_closed != NULL)
		on_closed(user);
}

static void server_stop_listening(struct rpc_server *server)
{
	server->closing = true;
	for (struct server_listener *own = server->listeners; own != NULL; own = own->next) {
		if (!own->closing)
			listener_close(own->listener, on_listener_closed);
		own->closing = true;
	}
}

static void server_cut(struct rpc_server *server)
{
	for (struct peer *peer = server->peers; peer != NULL; peer = peer->next)
		peer_cut(peer);
}

static void on_grace(uv_timer_t *timer)
{
	struct rpc_server *server = timer->data;
	if (server->last_words) {
		server_cut(server);
		return;
	}
	server->last_words = true;
	for (struct peer *peer = server->peers; peer != NULL; peer = peer->next)
		peer_abort_streams(peer);
	(void)uv_timer_start(timer, on_grace, LAST_WORDS_MS, 0);
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
	server_stop_listening(server);
	for (struct peer *peer = server->peers; peer != NULL; peer = peer->next)
		peer_say_goaway(peer);
	uv_update_time(server->loop);
	(void)uv_timer_start(&server->grace, on_grace, grace_ms, 0);
	server_settle(server);
}

void rpc_server_close(struct rpc_server *server)
{
	if (server == NULL)
		return;
	server->on_closed = NULL;
	server_stop_listening(server);
	server_cut(server);
	server_settle(server);
}
