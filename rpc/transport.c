/* SPDX-License-Identifier: MIT */
#include "rpc/transport_internal.h"

void transport_tell(struct transport *transport, int uv_status)
{
	const char *name = transport->address.name;
	struct error why = {0};

	if (uv_status == UV_EAGAIN)
		(void)error_set(&why, ERROR_BUSY, "cannot connect to %s: its backlog is full",
				name);
	else if (uv_status < 0)
		(void)error_uv(&why, uv_status, "cannot connect to %s", name);
	transport->on_connected(transport, uv_status < 0 ? &why : NULL);
}

static void on_pipe_connect(uv_connect_t *connect, int status)
{
	struct transport *transport = connect->data;
	if (transport->open)
		transport_tell(transport, status);
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
