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
