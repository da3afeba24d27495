/* SPDX-License-Identifier: MIT */
#include "rpc/transport.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

bool socket_is_at(const char *path)
{
	struct stat status = {0};
	return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

bool socket_identify(const char *path, struct socket_identity *out)
{
	struct stat status = {0};
	if (stat(path, &status) < 0)
		return false;
	*out = (struct socket_identity){
		.device = (uint64_t)status.st_dev,
		.inode = (uint64_t)status.st_ino,
		.born_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
			   (uint64_t)status.st_mtim.tv_nsec,
	};
	return true;
}

void socket_ignore_sigpipe(void)
{
	struct sigaction action = {0};
	if (sigaction(SIGPIPE, NULL, &action) < 0 || action.sa_handler != SIG_DFL)
		return;
	action.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &action, NULL);
}

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
