/* SPDX-License-Identifier: MIT */
#include "rpc/socket.h"

#include "rpc/transport.h"

bool socket_is_same(const struct socket_identity *a, const struct socket_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->born_ns == b->born_ns;
}

struct attempt {
	struct transport transport;
	struct error why;
};

static void on_connected(struct transport *transport, const struct error *why)
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
	rc = transport_connect(&attempt.transport, &loop, &address, on_connected, &attempt, err);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&loop);
	if (rc < 0)
		return rc;
	*served = attempt.why.code == 0 || attempt.why.code == ERROR_BUSY;
	if (attempt.why.code == ERROR_PERMISSION)
		return error_set(err, ERROR_PERMISSION, "%s", attempt.why.text);
	return 0;
}
