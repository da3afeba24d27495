/* SPDX-License-Identifier: MIT */
/* One connection through the relay: a stream on each side. */
#include "base/memory.h"
#include "containers/wine/relay.h"

#include <stdlib.h>
#include <string.h>

struct relay_end {
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_pipe_t pipe;
		uv_tcp_t tcp;
	};
	struct relay_link *link;
	bool ended; /* nothing more comes from it */
	uv_write_t write;
	uv_shutdown_t shutdown;
	char chunk[RELAY_CHUNK]; /* read from it, being written to the other */
};

struct relay_link {
	struct relay *relay; /* NULL: it is being closed */
	struct relay_end kubelet, wine;
	uv_timer_t deadline; /* for the nonce */
	uv_connect_t connect;
	uint8_t nonce[RENDEZVOUS_NONCE_SIZE]; /* that Wine's side presents, or receives */
	size_t nonce_size;		      /* bytes of it received */
	char *path;			      /* the kubelet's socket, until connected */
	unsigned open_handles;
};

static struct relay_end *other_end(struct relay_end *end)
{
	return end == &end->link->kubelet ? &end->link->wine : &end->link->kubelet;
}

static void on_closed(uv_handle_t *handle)
{
	struct relay_link *link = handle->data;
	if (--link->open_handles > 0)
		return;
	free(link->path);
	free(link);
}

void relay_link_close(struct relay_link *link)
{
	struct relay *relay = link->relay;
	if (relay == NULL)
		return;
	link->relay = NULL;
	for (size_t i = 0; i < relay->link_count; i++) {
		if (relay->links[i] == link) {
			relay->links[i] = relay->links[--relay->link_count];
			break;
		}
	}
	uv_close(&link->kubelet.handle, on_closed);
	uv_close(&link->wine.handle, on_closed);
	uv_close((uv_handle_t *)&link->deadline, on_closed);
}

static struct relay_end *end_of(uv_stream_t *stream)
{
	struct relay_link *link = stream->data;
	return stream == &link->kubelet.stream ? &link->kubelet : &link->wine;
}

static void read_from(struct relay_end *end);

static void on_shutdown(uv_shutdown_t *request, int status)
{
	(void)request;
	(void)status;
}

/* Does the link continue after a step? If the step failed, it is closed. */
static bool continues(struct relay_link *link, int status)
{
	if (link->relay == NULL)
		return false;
	if (status < 0)
		relay_link_close(link);
	return status >= 0;
}

/* Only one chunk is in transit at a time: a side that does not read stops the other. */
static void on_written(uv_write_t *request, int status)
{
	struct relay_end *from = request->data;
	if (continues(from->link, status))
		read_from(from);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct relay_end *end = end_of((uv_stream_t *)handle);
	(void)suggested;
	*buffer = uv_buf_init(end->chunk, sizeof(end->chunk));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct relay_end *end = end_of(stream);
	uv_buf_t data = uv_buf_init(buffer->base, size > 0 ? (unsigned)size : 0);
	if (size == 0)
		return;
	(void)uv_read_stop(stream);
	if (size == UV_EOF) {
		struct relay_end *other = other_end(end);
		end->ended = true;
		if (other->ended)
			relay_link_close(end->link);
		else
			(void)uv_shutdown(&other->shutdown, &other->stream, on_shutdown);
		return;
	}
	/* The plugin may be reporting a socket to the kubelet that it has just made. */
	if (end == &end->link->wine)
		relay_scan(end->link->relay);
	end->write.data = end;
	if (size < 0 || uv_write(&end->write, &other_end(end)->stream, &data, 1, on_written) < 0)
		relay_link_close(end->link);
}

static void read_from(struct relay_end *end)
{
	if (uv_read_start(&end->stream, on_allocate, on_read) < 0)
		relay_link_close(end->link);
}

static void join(struct relay_link *link)
{
	(void)uv_tcp_nodelay(&link->wine.tcp, 1);
	(void)uv_timer_stop(&link->deadline);
	read_from(&link->kubelet);
	if (link->relay != NULL)
		read_from(&link->wine);
}

static void on_deadline(uv_timer_t *timer)
{
	struct relay_link *link = timer->data;
	if (link->relay == NULL)
		return;
	relay_note(link->relay, "a connection was dropped: it did not become one in time");
	relay_link_close(link);
}

static void on_kubelet_connected(uv_connect_t *connect, int status)
{
	if (continues(connect->data, status))
		join(connect->data);
}

static void on_nonce_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct relay_link *link = handle->data;
	(void)suggested;
	*buffer = uv_buf_init(link->wine.chunk + link->nonce_size,
			      (unsigned)(RENDEZVOUS_NONCE_SIZE - link->nonce_size));
}

/* Exactly the nonce is read here; what follows it is read by on_read(). */
static void on_nonce(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct relay_link *link = stream->data;
	(void)buffer;
	if (size < 0) {
		relay_link_close(link);
		return;
	}
	link->nonce_size += (size_t)size;
	if (link->nonce_size < RENDEZVOUS_NONCE_SIZE)
		return;
	(void)uv_read_stop(stream);
	/* The comparison takes the same time whatever is wrong. */
	unsigned difference = 0;
	for (size_t i = 0; i < RENDEZVOUS_NONCE_SIZE; i++)
		difference |= (unsigned)(uint8_t)link->wine.chunk[i] ^ link->nonce[i];
	if (difference != 0) {
		relay_note(link->relay, "a connection was dropped: it did not know the nonce");
		relay_link_close(link);
		return;
	}
	relay_scan(link->relay);
	link->connect.data = link;
	uv_pipe_connect(&link->connect, &link->kubelet.pipe, link->path, on_kubelet_connected);
}

/* The nonce fits into the buffer of a new connection. */
static void on_wine_connected(uv_connect_t *connect, int status)
{
	struct relay_link *link = connect->data;
	uv_buf_t nonce = uv_buf_init((char *)link->nonce, RENDEZVOUS_NONCE_SIZE);
	if (!continues(link, status))
		return;
	if (uv_try_write(&link->wine.stream, &nonce, 1) == RENDEZVOUS_NONCE_SIZE)
		join(link);
	else
		relay_link_close(link);
}

void relay_link_accept(struct relay_mirror *mirror)
{
	struct relay *relay = mirror->relay;
	bool from_kubelet = mirror->side == RELAY_WINE;
	/* A connection that is not accepted would stay in the listener's queue. */
	if (relay->link_count == RELAY_LINKS_MAX) {
		relay_note(relay, "more than %d connections: the oldest is dropped",
			   RELAY_LINKS_MAX);
		relay_link_close(relay->links[0]);
	}
	struct relay_link *link = memory_allocate(1, sizeof(*link));
	link->path = relay_path(relay, RELAY_KUBELET, mirror->name);
	link->relay = relay;
	link->kubelet.link = link;
	link->wine.link = link;
	memcpy(link->nonce, mirror->rendezvous.nonce, sizeof(link->nonce));
	(void)uv_pipe_init(relay->loop, &link->kubelet.pipe, 0);
	(void)uv_tcp_init(relay->loop, &link->wine.tcp);
	(void)uv_timer_init(relay->loop, &link->deadline);
	link->kubelet.handle.data = link;
	link->wine.handle.data = link;
	link->deadline.data = link;
	link->open_handles = 3;
	relay->links[relay->link_count++] = link;

	(void)uv_timer_start(&link->deadline, on_deadline, relay->options.nonce_ms, 0);
	int rc = uv_accept(&mirror->listener.stream,
			   from_kubelet ? &link->kubelet.stream : &link->wine.stream);
	if (rc == 0 && from_kubelet) {
		/* On to the plugin's port. */
		struct sockaddr_in address = {0};
		link->connect.data = link;
		rc = uv_ip4_addr("127.0.0.1", mirror->rendezvous.port, &address);
		if (rc == 0)
			rc = uv_tcp_connect(&link->connect, &link->wine.tcp,
					    (struct sockaddr *)&address, on_wine_connected);
	} else if (rc == 0) {
		rc = uv_read_start(&link->wine.stream, on_nonce_allocate, on_nonce);
	}
	if (rc < 0)
		relay_link_close(link);
}
