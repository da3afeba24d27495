/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "rpc/transport.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128 };

/* libuv would remove whatever is at the path when it closes a pipe that it has bound, so the socket
 * is bound here. */
struct listener {
	uv_pipe_t pipe;
	char path[ADDRESS_PATH_MAX + 1];
	struct socket_identity identity; /* of our file */
	struct listener_options options;
	void (*on_closed)(void *user);
};

/* A bound socket, not yet listening, so that nobody can connect before its mode is set. */
static int make_socket(struct listener *listener, int *fd, struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	memcpy(address.sun_path, listener->path, sizeof(listener->path));
	int made CLEANUP_FD = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (made < 0)
		return error_system(err, errno, "cannot make a socket");
	if (bind(made, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno == EADDRINUSE)
			return error_set(err, ERROR_EXISTS, "cannot listen on %s: it exists",
					 listener->path);
		return error_system(err, errno, "cannot listen on %s", listener->path);
	}
	if (chmod(listener->path, (mode_t)listener->options.mode) < 0 ||
	    !socket_identify(listener->path, &listener->identity)) {
		int rc = error_system(err, errno, "cannot prepare %s", listener->path);
		(void)unlink(listener->path);
		return rc;
	}
	*fd = STEAL_FD(made);
	return 0;
}

static void on_connection(uv_stream_t *stream, int status)
{
	struct listener *listener = stream->data;
	if (status == 0)
		listener->options.on_connection(listener, listener->options.user);
}

int listener_open(uv_loop_t *loop, const struct address *address,
		  const struct listener_options *options, struct listener **out, struct error *err)
{
	struct listener *listener CLEANUP_FREE = calloc(1, sizeof(*listener));
	int fd = -1;
	if (listener == NULL)
		return error_memory(err);
	listener->options = *options;
	(void)snprintf(listener->path, sizeof(listener->path), "%.*s", ADDRESS_PATH_MAX,
		       address->name);
	int rc = make_socket(listener, &fd, err);
	if (rc < 0)
		return rc;

	/* From here on the handle owns `fd`, and closing it frees the listener. */
	struct listener *opened = STEAL(listener);
	(void)uv_pipe_init(loop, &opened->pipe, 0);
	opened->pipe.data = opened;
	rc = uv_pipe_open(&opened->pipe, fd);
	if (rc < 0)
		(void)close(fd);
	else if (!opened->options.refuse)
		rc = uv_listen((uv_stream_t *)&opened->pipe, BACKLOG, on_connection);
	if (rc < 0) {
		rc = error_uv(err, rc, "cannot listen on %s", opened->path);
		listener_close(opened, NULL);
		return rc;
	}
	*out = opened;
	return 0;
}

int listener_accept(struct listener *listener, struct transport *transport, void *user)
{
	*transport = (struct transport){.user = user};
	int rc = uv_pipe_init(listener->pipe.loop, &transport->pipe, 0);
	if (rc < 0)
		return rc;
	transport->pipe.data = transport;
	transport->open = true;
	return uv_accept((uv_stream_t *)&listener->pipe, &transport->stream);
}

static void on_pipe_closed(uv_handle_t *handle)
{
	struct listener *listener = handle->data;
	void (*on_closed)(void *user) = listener->on_closed;
	void *user = listener->options.user;
	free(listener);
	if (on_closed != NULL)
		on_closed(user);
}

void listener_close(struct listener *listener, void (*on_closed)(void *user))
{
	struct socket_identity now;
	if (socket_identify(listener->path, &now) && socket_is_same(&now, &listener->identity))
		(void)unlink(listener->path);
	listener->on_closed = on_closed;
	uv_close((uv_handle_t *)&listener->pipe, on_pipe_closed);
}
