/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/monitor.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "reference-plugin/serving/http_request.h"
#include "reference-plugin/serving/socket_file.h"
#include "rpc/address.h"

#include <string.h>

union endpoint {
	uv_handle_t handle;
	uv_stream_t stream;
	uv_tcp_t tcp;
	uv_pipe_t pipe;
};

struct connection {
	struct monitor *monitor;
	union endpoint peer;
	uv_timer_t timer;
	uv_write_t writing;
	uv_shutdown_t ending;
	char head[HTTP_REQUEST_MAX];
	size_t size;
	char chunk[1024]; /* for reading the rest of the request */
	struct text answer;
	bool answered;
	struct connection *next;
};

struct monitor {
	uv_loop_t *loop;
	union endpoint listener;
	bool is_pipe, closing;
	monitor_answer *answer;
	void *user;
	struct connection *connections;
	size_t connection_count;
};

/* The listener's handle and each connection keep the monitor. */
static void release(struct monitor *monitor)
{
	if (monitor->closing && monitor->connection_count == 0 &&
	    monitor->listener.handle.data == NULL)
		free(monitor);
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct connection *connection = handle->data;
	struct monitor *monitor = connection->monitor;
	monitor->connection_count--;
	text_free(&connection->answer);
	free(connection);
	release(monitor);
}

static void on_peer_closed(uv_handle_t *handle)
{
	struct connection *connection = handle->data;
	uv_close((uv_handle_t *)&connection->timer, on_timer_closed);
}

static void end(struct connection *connection)
{
	struct connection **place = &connection->monitor->connections;
	if (uv_is_closing(&connection->peer.handle))
		return;
	while (*place != connection)
		place = &(*place)->next;
	*place = connection->next;
	uv_close(&connection->peer.handle, on_peer_closed);
}

static void on_timeout(uv_timer_t *timer)
{
	end(timer->data);
}

static void on_shut(uv_shutdown_t *request, int status)
{
	if (status < 0 && status != UV_ECANCELED)
		end(request->data);
}

static void on_written(uv_write_t *request, int status)
{
	struct connection *connection = request->data;
	if (status == UV_ECANCELED)
		return;
	/* The rest of the request is read: closing earlier could lose the answer. */
	connection->ending.data = connection;
	if (status < 0 || uv_shutdown(&connection->ending, &connection->peer.stream, on_shut) < 0)
		end(connection);
}

static const char *reason_of(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {{200, "OK"},
		       {400, "Bad Request"},
		       {404, "Not Found"},
		       {405, "Method Not Allowed"},
		       {431, "Request Header Fields Too Large"},
		       {503, "Service Unavailable"},
		       {505, "HTTP Version Not Supported"}};
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (reasons[i].status == status)
			return reasons[i].reason;
	}
	return "Error";
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct connection *connection = handle->data;
	(void)suggested;
	*buffer = connection->answered
			  ? uv_buf_init(connection->chunk, sizeof(connection->chunk))
			  : uv_buf_init(connection->head + connection->size,
					(unsigned)(sizeof(connection->head) - connection->size));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	struct connection *connection = stream->data;
	const struct monitor *monitor = connection->monitor;
	struct http_request_head request = {0};
	(void)buffer;
	if (count < 0) {
		end(connection);
		return;
	}
	if (connection->answered)
		return;
	connection->size += (size_t)count;
	int status = http_request_parse(connection->head, connection->size, &request);
	if (status == 0)
		return;

	struct text body CLEANUP_TEXT = {0};
	struct text *answer = &connection->answer;
	if (status == 200)
		status = monitor->answer(request.path, &body, monitor->user);
	if (body.size == 0)
		text_addf(&body, "%s\n", reason_of(status));
	text_addf(answer,
		  "HTTP/1.1 %d %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
		  "Content-Length: %zu\r\nCache-Control: no-store\r\nConnection: close\r\n%s\r\n",
		  status, reason_of(status), body.size,
		  status == 405 ? "Allow: GET, HEAD\r\n" : "");
	if (!request.is_head)
		text_append(answer, text_string(&body), body.size);
	uv_buf_t bytes = uv_buf_init(answer->data, (unsigned)answer->size);
	connection->answered = true;
	connection->writing.data = connection;
	if (body.failed || answer->failed ||
	    uv_write(&connection->writing, &connection->peer.stream, &bytes, 1, on_written) < 0)
		end(connection);
}

static void endpoint_init(struct monitor *monitor, union endpoint *endpoint, void *data)
{
	(void)(monitor->is_pipe ? uv_pipe_init(monitor->loop, &endpoint->pipe, 0)
				: uv_tcp_init(monitor->loop, &endpoint->tcp));
	endpoint->handle.data = data;
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct monitor *monitor = listener->data;
	struct connection *connection = status == 0 ? calloc(1, sizeof(*connection)) : NULL;
	if (connection == NULL)
		return;
	connection->monitor = monitor;
	connection->next = monitor->connections;
	(void)uv_timer_init(monitor->loop, &connection->timer);
	connection->timer.data = connection;
	endpoint_init(monitor, &connection->peer, connection);
	monitor->connections = connection;
	monitor->connection_count++;
	if (uv_accept(listener, &connection->peer.stream) < 0 ||
	    monitor->connection_count > MONITOR_CONNECTIONS_MAX ||
	    uv_timer_start(&connection->timer, on_timeout, MONITOR_TIMEOUT_MS, 0) < 0 ||
	    uv_read_start(&connection->peer.stream, on_room, on_read) < 0)
		end(connection);
}

/* At "unix:PATH", "127.0.0.1:9478" or "[::1]:9478". */
static int listen_at(struct monitor *monitor, const char *address, struct error *err)
{
	int rc = 0;
	if (monitor->is_pipe) {
		struct address file = {0};
		uv_fs_t request;
		rc = address_parse(address, ADDRESS_RULES_HERE, &file, err);
		if (rc < 0)
			return rc;
		if (socket_file_nobody_listens(file.name))
			(void)uv_fs_unlink(NULL, &request, file.name, NULL);
		rc = uv_pipe_bind(&monitor->listener.pipe, file.name);
		if (rc == 0)
			rc = uv_fs_chmod(NULL, &request, file.name, 0600, NULL);
	} else {
		struct sockaddr_storage place = {0};
		const bool is_four = text_starts_with(address, "127.0.0.1:");
		long long port = 0;
		if ((!is_four && !text_starts_with(address, "[::1]:")) ||
		    text_to_int64(strchr(address, is_four ? ':' : ']') + (is_four ? 1 : 2), "", 0,
				  65535, &port, NULL) < 0)
			return error_set(err, ERROR_ARGUMENT,
					 "'%s' is not 127.0.0.1:PORT, [::1]:PORT or unix:PATH",
					 address);
		rc = is_four ? uv_ip4_addr("127.0.0.1", (int)port, (struct sockaddr_in *)&place)
			     : uv_ip6_addr("::1", (int)port, (struct sockaddr_in6 *)&place);
		if (rc == 0)
			rc = uv_tcp_bind(&monitor->listener.tcp, (const struct sockaddr *)&place,
					 0);
	}
	if (rc == 0)
		rc = uv_listen(&monitor->listener.stream, MONITOR_CONNECTIONS_MAX, on_connection);
	if (rc == UV_EADDRINUSE)
		return error_set(err, ERROR_BUSY, "metrics: %s is in use", address);
	return rc == 0 ? 0 : error_uv(err, rc, "cannot serve metrics at %s", address);
}

int monitor_open(uv_loop_t *loop, const char *address, monitor_answer *answer, void *user,
		 struct monitor **out, struct error *err)
{
	struct monitor *monitor = calloc(1, sizeof(*monitor));
	if (monitor == NULL)
		return error_memory(err);
	monitor->loop = loop;
	monitor->answer = answer;
	monitor->user = user;
#ifndef _WIN32
	monitor->is_pipe = text_starts_with(address, "unix:");
#endif
	endpoint_init(monitor, &monitor->listener, monitor);
	int rc = listen_at(monitor, address, err);
	if (rc < 0) {
		monitor_close(monitor);
		return rc;
	}
	*out = monitor;
	if (monitor->is_pipe) {
		log_info("metrics and health at %s", address);
		return 0;
	}

	/* Both families have the port at the same offset. */
	struct sockaddr_storage place = {0};
	int size = sizeof(place);
	(void)uv_tcp_getsockname(&monitor->listener.tcp, (struct sockaddr *)&place, &size);
	log_info("metrics and health at http://%.*s:%d/metrics",
		 (int)(strrchr(address, ':') - address), address,
		 ntohs(((const struct sockaddr_in *)&place)->sin_port));
	return 0;
}

static void on_listener_closed(uv_handle_t *handle)
{
	struct monitor *monitor = handle->data;
	handle->data = NULL;
	release(monitor);
}

void monitor_close(struct monitor *monitor)
{
	if (monitor == NULL)
		return;
	monitor->closing = true;
	while (monitor->connections != NULL)
		end(monitor->connections);
	uv_close(&monitor->listener.handle, on_listener_closed);
}
