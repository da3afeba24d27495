/* SPDX-License-Identifier: MIT */
#include "rpc/server.h"

#include "base/cleanup.h"
#include "rpc/peer.h"

#include <string.h>
#include <unistd.h>

enum {
	SOCKET_MODE_DEFAULT = 0600,
	PREFACE_TIMEOUT_DEFAULT_MS = 10 * 1000,
	INITIAL_WINDOW_DEFAULT = 65535,
	BACKLOG = 128,
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

static void on_connection(uv_stream_t *stream, int status)
{
	struct listener *listener = stream->data;

	if (status == 0 && !listener->server->closing)
		peer_accept(listener->server, stream);
}

static void on_listener_closed(uv_handle_t *handle)
{
	struct listener *listener = handle->data;
	struct rpc_server *server = listener->server;
	struct listener **link = &server->listeners;

	while (*link != listener)
		link = &(*link)->next;
	*link = listener->next;
	free(listener->path);
	free(listener);
	server_settle(server);
}

static void listener_close(struct listener *listener)
{
	if (uv_is_closing((uv_handle_t *)&listener->pipe))
		return;
	socket_remove(listener->path, &listener->identity);
	uv_close((uv_handle_t *)&listener->pipe, on_listener_closed);
}

/* From here on the handle owns `fd`, and on_listener_closed() the listener. */
static int listener_start(struct rpc_server *server, struct listener *listener, int fd,
			  struct error *err)
{
	int rc = 0;

	(void)uv_pipe_init(server->loop, &listener->pipe, 0);
	listener->pipe.data = listener;
	listener->server = server;
	listener->next = server->listeners;
	server->listeners = listener;
	rc = uv_pipe_open(&listener->pipe, fd);
	if (rc < 0)
		(void)close(fd);
	else
		rc = uv_listen((uv_stream_t *)&listener->pipe, BACKLOG, on_connection);
	if (rc < 0) {
		listener_close(listener);
		return error_uv(err, rc, "cannot listen on %s", listener->path);
	}
	return 0;
}

int rpc_server_listen(struct rpc_server *server, const char *address, struct error *err)
{
	struct listener *listener CLEANUP_FREE = calloc(1, sizeof(*listener));
	char *copy CLEANUP_FREE = NULL;
	const char *path = NULL;
	int fd = -1;
	int rc = rpc_address_path(address, &path, err);

	if (rc < 0)
		return rc;
	copy = strdup(path);
	if (listener == NULL || copy == NULL)
		return error_memory(err);
	rc = socket_bind(path, server->options.socket_mode, &fd, &listener->identity, err);
	if (rc < 0)
		return rc;
	listener->path = STEAL(copy);
	return listener_start(server, STEAL(listener), fd, err);
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
	for (struct listener *listener = server->listeners; listener != NULL;
	     listener = listener->next)
		listener_close(listener);
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
