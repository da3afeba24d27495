/* SPDX-License-Identifier: MIT */
#include "rpc/transport.h"

#include <sys/socket.h>

int transport_connect(struct transport *transport, uv_loop_t *loop, const struct address *address,
		      transport_connected *on_connected, void *user, struct error *err)
{
	*transport =
		(struct transport){.address = *address, .on_connected = on_connected, .user = user};
	return transport_connect_pipe(transport, loop, err);
}

int transport_peer(const struct transport *transport)
{
	struct ucred peer = {0};
	socklen_t size = sizeof(peer);
	uv_os_fd_t fd = -1;
	if (!transport->open || uv_fileno(&transport->handle, &fd) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 0;
	return peer.pid;
}
