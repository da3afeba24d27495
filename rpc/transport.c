/* SPDX-License-Identifier: MIT */
#include "rpc/transport.h"

static void on_pipe_connect(uv_connect_t *connect, int status)
{
	struct transport *transport = connect->data;
	const char *name = transport->address.name;
	struct error why = {0};
	if (!transport->open)
		return;
	if (status == UV_EAGAIN)
		(void)error_set(&why, ERROR_BUSY, "cannot connect to %s: its backlog is full",
				name);
	else if (status < 0)
		(void)error_uv(&why, status, "cannot connect to %s", name);
	transport->on_connected(transport, status < 0 ? &why : NULL);
}

int transport_connect_pipe(struct transport *transport, uv_loop_t *loop, struct error *err)
{
	int rc = uv_pipe_init(loop, &transport->pipe, 0);
	if (rc < 0)
		return error_uv(err, rc, "cannot make a pipe handle");
	transport->pipe.data = transport;
	transport->open = true;
	transport->connect.data = transport;
	uv_pipe_connect(&transport->connect, &transport->pipe, transport->address.name,
			on_pipe_connect);
	return 0;
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct transport *transport = handle->data;
	if (transport->on_closed != NULL)
		transport->on_closed(transport);
}

void transport_close(struct transport *transport, void (*on_closed)(struct transport *transport))
{
	if (transport->give_up != NULL)
		transport->give_up(transport);
	transport->open = false;
	transport->on_closed = on_closed;
	uv_close(&transport->handle, on_handle_closed);
}

bool socket_is_same(const struct socket_identity *a, const struct socket_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->born_ns == b->born_ns;
}

struct attempt {
	struct transport transport;
	struct error why;
};

static void on_attempt(struct transport *transport, const struct error *why)
{
	struct attempt *attempt = transport->user;
	if (why != NULL)
		attempt->why = *why;
	transport_close(transport, NULL);
}

int socket_is_served(const char *path, bool *served, struct error *err)
{
	struct attempt attempt = {0};
	struct address address;
	uv_loop_t loop;
	int rc = address_of_path(path, &address, err);
	if (rc < 0)
		return rc;
	rc = uv_loop_init(&loop);
	if (rc < 0)
		return error_uv(err, rc, "cannot make an event loop");
	rc = transport_connect(&attempt.transport, &loop, &address, on_attempt, &attempt, err);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&loop);
	if (rc < 0)
		return rc;
	*served = attempt.why.code == 0 || attempt.why.code == ERROR_BUSY;
	if (attempt.why.code == ERROR_PERMISSION)
		return error_set(err, ERROR_PERMISSION, "%s", attempt.why.text);
	return 0;
}
