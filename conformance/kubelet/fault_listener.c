/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/fault_state.h"

#include "base/memory.h"
#include "rpc/transport.h"

#include <stdlib.h>

enum { SOCKET_MODE = 0600, CONNECTIONS_MAX = 256 };

struct fault_connection {
	struct transport transport;
	struct fault_listener *listener; /* NULL once that is closed */
	struct fault_connection *next;
};

struct fault_listener {
	struct listener *listener;
	enum fault kind;
	struct fault_connection *connections;
	size_t connection_count;
};

static void on_connection_closed(struct transport *transport)
{
	struct fault_connection *connection = transport->user;
	if (connection->listener != NULL) {
		struct fault_connection **link = &connection->listener->connections;
		while (*link != connection)
			link = &(*link)->next;
		*link = connection->next;
		connection->listener->connection_count--;
	}
	free(connection);
}

static void connection_close(struct fault_connection *connection)
{
	if (connection->transport.open)
		transport_close(&connection->transport, on_connection_closed);
}

/* The input is ignored. */
static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	static char input[4096];
	(void)handle;
	(void)suggested;
	*buffer = uv_buf_init(input, sizeof(input));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	(void)buffer;
	if (size < 0)
		connection_close(((struct transport *)stream->data)->user);
}

static void on_connection(struct listener *waiting, void *user)
{
	static char garbage[] = "HTTP/1.1 400 This is no HTTP/2\r\n\r\n\0\xff\xfe garbage";
	const uv_buf_t buffer = uv_buf_init(garbage, sizeof(garbage));
	struct fault_listener *listener = user;
	struct fault_connection *connection = memory_allocate(1, sizeof(*connection));
	uv_stream_t *stream = &connection->transport.stream;
	int rc = listener_accept(waiting, &connection->transport, connection, NULL);
	if (!connection->transport.open) {
		free(connection);
		return;
	}
	connection->listener = listener;
	connection->next = listener->connections;
	listener->connections = connection;
	listener->connection_count++;

	if (rc == 0 && listener->connection_count <= CONNECTIONS_MAX) {
		if (listener->kind == FAULT_CONNECTION_SILENT &&
		    uv_read_start(stream, on_alloc, on_read) == 0)
			return;
		if (listener->kind == FAULT_CONNECTION_GARBAGE)
			(void)uv_try_write(stream, &buffer, 1);
	}
	connection_close(connection);
}

int fault_listener_open(uv_loop_t *loop, const char *path, enum fault kind,
			struct fault_listener **out, struct error *err)
{
	struct fault_listener *listener = memory_allocate(1, sizeof(*listener));
	const struct listener_options options = {.mode = SOCKET_MODE,
						 .refuse = kind == FAULT_CONNECTION_REFUSE,
						 .on_connection = on_connection,
						 .user = listener};
	struct address address;
	listener->kind = kind;
	int rc = address_of_path(path, &address, err);
	if (rc == 0)
		rc = listener_open(loop, &address, &options, &listener->listener, err);
	if (rc != 0) {
		free(listener);
		return rc;
	}
	*out = listener;
	return 0;
}

void fault_listener_close(struct fault_listener *listener)
{
	if (listener == NULL)
		return;
	for (struct fault_connection *connection = listener->connections; connection != NULL;
	     connection = connection->next) {
		connection->listener = NULL;
		connection_close(connection);
	}
	listener_close(listener->listener, free);
}
