/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/fault_listener.h"

#include "base/cleanup.h"

#include <string.h>

enum { BACKLOG = 64, INPUT_SIZE = 4096, CONNECTIONS_MAX = 256 };

static const char garbage[] = "HTTP/1.1 400 This is no HTTP/2\r\n\r\n\0\xff\xfe garbage";

struct fault_connection {
	uv_pipe_t pipe;
	uv_write_t write;
	struct fault_listener *listener; /* NULL once that is closed */
	struct fault_connection *next;
	char input[INPUT_SIZE];
};

struct fault_listener {
	uv_pipe_t pipe;
	enum fault_listener_kind kind;
	struct fault_connection *connections;
	size_t connection_count;
};

static void on_connection_closed(uv_handle_t *handle)
{
	struct fault_connection *connection = handle->data;
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
	if (!uv_is_closing((uv_handle_t *)&connection->pipe))
		uv_close((uv_handle_t *)&connection->pipe, on_connection_closed);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct fault_connection *connection = handle->data;
	(void)suggested;
	*buffer = uv_buf_init(connection->input, INPUT_SIZE);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	(void)buffer;
	if (size < 0)
		connection_close(stream->data);
}

static void on_written(uv_write_t *write, int status)
{
	(void)status;
	connection_close(write->data);
}

static void connection_misbehave(struct fault_connection *connection)
{
	uv_stream_t *stream = (uv_stream_t *)&connection->pipe;
	static char bytes[sizeof(garbage)];
	int rc = 0;
	switch (connection->listener->kind) {
	case FAULT_LISTENER_SILENT:
		rc = uv_read_start(stream, on_alloc, on_read);
		break;
	case FAULT_LISTENER_GARBAGE: {
		memcpy(bytes, garbage, sizeof(garbage));
		uv_buf_t buffer = uv_buf_init(bytes, sizeof(bytes));
		connection->write.data = connection;
		rc = uv_write(&connection->write, stream, &buffer, 1, on_written);
		break;
	}
	case FAULT_LISTENER_CLOSE:
	case FAULT_LISTENER_REFUSE:
		connection_close(connection);
		break;
	}
	if (rc != 0)
		connection_close(connection);
}

static void on_connection(uv_stream_t *server, int status)
{
	struct fault_listener *listener = server->data;
	struct fault_connection *connection = NULL;
	if (status != 0)
		return;
	connection = calloc(1, sizeof(*connection));
	if (connection == NULL)
		return;
	(void)uv_pipe_init(server->loop, &connection->pipe, 0);
	connection->pipe.data = connection;
	connection->listener = listener;
	connection->next = listener->connections;
	listener->connections = connection;
	listener->connection_count++;
	if (uv_accept(server, (uv_stream_t *)&connection->pipe) != 0 ||
	    listener->connection_count > CONNECTIONS_MAX)
		connection_close(connection);
	else
		connection_misbehave(connection);
}

static void on_listener_closed(uv_handle_t *handle)
{
	free(handle->data);
}

int fault_listener_open(uv_loop_t *loop, const char *path, enum fault_listener_kind kind,
			struct fault_listener **out, struct error *err)
{
	struct fault_listener *listener = calloc(1, sizeof(*listener));
	if (listener == NULL)
		return error_memory(err);
	listener->kind = kind;
	(void)uv_pipe_init(loop, &listener->pipe, 0);
	listener->pipe.data = listener;
	int rc = uv_pipe_bind(&listener->pipe, path);
	if (rc == 0 && kind != FAULT_LISTENER_REFUSE)
		rc = uv_listen((uv_stream_t *)&listener->pipe, BACKLOG, on_connection);
	if (rc != 0) {
		fault_listener_close(listener);
		return error_uv(err, rc, "cannot listen on %s", path);
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
	uv_close((uv_handle_t *)&listener->pipe, on_listener_closed);
}
