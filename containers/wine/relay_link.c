/* SPDX-License-Identifier: MIT */
/* One connection that the relay carries: a stream on each side. */
#include "base/cleanup.h"
#include "containers/wine/relay_internal.h"

#include <stdlib.h>
#include <string.h>

struct relay_link;

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
	uint8_t nonce[RENDEZVOUS_NONCE_SIZE]; /* that Wine's side presents, or that it is told */
	size_t nonce_size;		      /* of it has come */
	char *path;			      /* of the kubelet's socket, until it is connected */
	unsigned open_handles;
};

static struct relay_end *link_other(struct relay_end *end)
{
	return end == &end->link->kubelet ? &end->link->wine : &end->link->kubelet;
}

static void link_on_closed(uv_handle_t *handle)
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
	uv_close(&link->kubelet.handle, link_on_closed);
	uv_close(&link->wine.handle, link_on_closed);
	uv_close((uv_handle_t *)&link->deadline, link_on_closed);
}

static struct relay_end *end_of(uv_stream_t *stream)
{
	struct relay_link *link = stream->data;
	return stream == &link->kubelet.stream ? &link->kubelet : &link->wine;
}

static void link_read(struct relay_end *end);

static void link_on_shutdown(uv_shutdown_t *request, int status)
{
	(void)request;
	(void)status;
}

static void link_on_end(struct relay_end *end)
{
	struct relay_end *other = link_other(end);
	end->ended = true;
	if (other->ended) {
		relay_link_close(end->link);
		return;
	}
	(void)uv_shutdown(&other->shutdown, &other->stream, link_on_shutdown);
}

/* One chunk is on its way at a time: a side that does not read stops the other. */
static void link_on_written(uv_write_t *request, int status)
{
	struct relay_end *from = request->data;
	if (from->link->relay == NULL)
		return;
	if (status < 0)
		relay_link_close(from->link);
	else
		link_read(from);
}

static void link_on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct relay_end *end = end_of((uv_stream_t *)handle);
	(void)suggested;
	*buffer = uv_buf_init(end->chunk, sizeof(end->chunk));
}

static void link_on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct relay_end *end = end_of(stream);
	uv_buf_t data = uv_buf_init(buffer->base, size > 0 ? (unsigned)size : 0);
	if (size == 0)
		return;
	(void)uv_read_stop(stream);
	if (size == UV_EOF) {
		link_on_end(end);
		return;
	}
	/* What the plugin tells the kubelet may speak of a socket that it has just made. */
	if (end == &end->link->wine)
		relay_look(end->link->relay);
	end->write.data = end;
	if (size < 0 ||
	    uv_write(&end->write, &link_other(end)->stream, &data, 1, link_on_written) < 0)
		relay_link_close(end->link);
}

static void link_read(struct relay_end *end)
{
	if (uv_read_start(&end->stream, link_on_allocate, link_on_read) < 0)
		relay_link_close(end->link);
}

static void link_join(struct relay_link *link)
{
	(void)uv_tcp_nodelay(&link->wine.tcp, 1);
	(void)uv_timer_stop(&link->deadline);
	link_read(&link->kubelet);
	if (link->relay != NULL)
		link_read(&link->wine);
}

static void link_on_deadline(uv_timer_t *timer)
{
	struct relay_link *link = timer->data;
	if (link->relay == NULL)
		return;
	relay_note(link->relay, "a connection was dropped: it did not become one in time");
	relay_link_close(link);
}

static void link_on_kubelet_connected(uv_connect_t *connect, int status)
{
	struct relay_link *link = connect->data;
	if (link->relay == NULL)
		return;
	if (status < 0)
		relay_link_close(link);
	else
		link_join(link);
}

static void link_on_nonce_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct relay_link *link = handle->data;
	(void)suggested;
	*buffer = uv_buf_init(link->wine.chunk + link->nonce_size,
			      (unsigned)(RENDEZVOUS_NONCE_SIZE - link->nonce_size));
}

/* In a time that does not tell how much is right. */
static bool link_knows_nonce(const struct relay_link *link)
{
	unsigned difference = 0;
	for (size_t i = 0; i < RENDEZVOUS_NONCE_SIZE; i++)
		difference |= (unsigned)(uint8_t)link->wine.chunk[i] ^ link->nonce[i];
	return difference == 0;
}

/* Exactly the nonce is read here; what follows it is read by link_on_read(). */
static void link_on_nonce(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
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
	if (!link_knows_nonce(link)) {
		relay_note(link->relay, "a connection was dropped: it did not know the nonce");
		relay_link_close(link);
		return;
	}
	relay_look(link->relay);
	link->connect.data = link;
	uv_pipe_connect(&link->connect, &link->kubelet.pipe, link->path, link_on_kubelet_connected);
}

static void link_on_greeted(uv_write_t *request, int status)
{
	struct relay_link *link = request->data;
	if (link->relay == NULL)
		return;
	if (status < 0)
		relay_link_close(link);
	else
		link_join(link);
}

static void link_on_wine_connected(uv_connect_t *connect, int status)
{
	struct relay_link *link = connect->data;
	uv_buf_t nonce = uv_buf_init((char *)link->nonce, RENDEZVOUS_NONCE_SIZE);
	if (link->relay == NULL)
		return;
	link->wine.write.data = link;
	if (status < 0 ||
	    uv_write(&link->wine.write, &link->wine.stream, &nonce, 1, link_on_greeted) < 0)
		relay_link_close(link);
}

/* From the kubelet: on to the plugin's port. */
static int link_call_plugin(struct relay_link *link, const struct relay_mirror *mirror)
{
	struct sockaddr_in address = {0};
	int rc = uv_ip4_addr("127.0.0.1", mirror->rendezvous.port, &address);
	link->connect.data = link;
	return rc == 0 ? uv_tcp_connect(&link->connect, &link->wine.tcp,
					(struct sockaddr *)&address, link_on_wine_connected)
		       : rc;
}

static struct relay_link *link_new(struct relay *relay, const struct relay_mirror *mirror)
{
	struct relay_link *link = calloc(1, sizeof(*link));
	if (link == NULL)
		return NULL;
	link->path = relay_path(relay, RELAY_KUBELET, mirror->name);
	if (link->path == NULL) {
		free(link);
		return NULL;
	}
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
	return link;
}

/* A connection that is not accepted would stay in the listener's queue. */
static void link_refuse(struct relay_mirror *mirror)
{
	struct relay *relay = mirror->relay;
	relay_note(relay, "more than %d connections: the oldest is dropped", RELAY_LINKS_MAX);
	relay_link_close(relay->links[0]);
}

void relay_link_accept(struct relay_mirror *mirror)
{
	struct relay *relay = mirror->relay;
	int rc = 0;
	if (relay->link_count == RELAY_LINKS_MAX)
		link_refuse(mirror);
	struct relay_link *link = link_new(relay, mirror);
	if (link == NULL)
		return;
	(void)uv_timer_start(&link->deadline, link_on_deadline, relay->nonce_ms, 0);
	if (mirror->side == RELAY_WINE) {
		rc = uv_accept(&mirror->listener.stream, &link->kubelet.stream);
		if (rc == 0)
			rc = link_call_plugin(link, mirror);
	} else {
		rc = uv_accept(&mirror->listener.stream, &link->wine.stream);
		if (rc == 0)
			rc = uv_read_start(&link->wine.stream, link_on_nonce_allocate,
					   link_on_nonce);
	}
	if (rc < 0)
		relay_link_close(link);
}
