/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/windows/private.h"
#include "base/windows/wide.h"
#include "rpc/transport.h"
#include "rpc/windows/socket.h"
#include "rpc/windows/winsock.h"

#include <sddl.h>
#include <stdio.h>
#include <string.h>

enum { BACKLOG = 128 };

struct listener {
	/* The pipe that is listened on; for a socket file the handle whose closing ends the
	 * listener. */
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_pipe_t pipe;
		uv_tcp_t tcp;
	};
	struct address address;
	struct listener_options options;
	struct winsock winsock;
	SOCKET accepted; /* waits for listener_accept() */
	bool has_nonce;
	uint8_t nonce[RENDEZVOUS_NONCE_SIZE];
	struct socket_identity identity;
	bool closing;
	void (*on_closed)(void *user);
};

static void on_handle_closed(uv_handle_t *handle)
{
	struct listener *listener = handle->data;
	void (*on_closed)(void *user) = listener->on_closed;
	void *user = listener->options.user;

	free(listener);
	if (on_closed != NULL)
		on_closed(user);
}

/*
 * Named pipes.
 */

static void on_pipe_connection(uv_stream_t *stream, int status)
{
	struct listener *listener = stream->data;
	if (status == 0)
		listener->options.on_connection(listener, listener->options.user);
}

/* For Wine, which lets a second server make instances of the first one's pipe. */
static bool pipe_exists(const char *name)
{
	wchar_t *wide CLEANUP_FREE = wide_from_utf8(name);
	return wide == NULL || WaitNamedPipeW(wide, 1) || GetLastError() != ERROR_FILE_NOT_FOUND;
}

/* NU: who came over the network; OW: the owner; SY, BA: SYSTEM and Administrators; AU: every user.
 */
#define ACCESS_OWNER "D:P(D;;GA;;;NU)(A;;GA;;;OW)(A;;GA;;;SY)(A;;GA;;;BA)"
#define ACCESS_USERS ACCESS_OWNER "(A;;GRGW;;;AU)"

/* Admits to the pipe whom `mode` says, as of a file: without bits for group and others its owner,
 * SYSTEM and Administrators, otherwise every user of this machine. All instances of the pipe share
 * what is set. */
static int restrict_pipe(HANDLE pipe, unsigned mode, struct error *err)
{
	const char *list = (mode & 077) == 0 ? ACCESS_OWNER : ACCESS_USERS;
	PSECURITY_DESCRIPTOR descriptor = NULL;
	BOOL done = ConvertStringSecurityDescriptorToSecurityDescriptorA(list, SDDL_REVISION_1,
									 &descriptor, NULL);
	int rc = 0;
	if (done)
		done = SetKernelObjectSecurity(
			pipe, DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
			descriptor);
	if (!done)
		rc = error_windows(err, GetLastError(), "cannot restrict the pipe to its owner");
	(void)LocalFree(descriptor);
	return rc;
}

static int listen_on_pipe(struct listener *listener, struct error *err)
{
	const char *name = listener->address.name;
	uv_os_fd_t handle = INVALID_HANDLE_VALUE;
	int rc = pipe_exists(name) ? UV_EADDRINUSE : uv_pipe_bind(&listener->pipe, name);
	if (rc == UV_EADDRINUSE || rc == UV_EACCES)
		return error_set(err, ERROR_EXISTS, "cannot listen on %s: it exists", name);
	if (rc == 0)
		rc = uv_fileno(&listener->handle, &handle);
	if (rc < 0)
		return error_uv(err, rc, "cannot listen on %s", name);
	/* libuv makes pipes that everybody may read. */
	rc = restrict_pipe(handle, listener->options.mode, err);
	if (rc < 0)
		return error_wrap(err, rc, "cannot listen on %s", name);
	if (!listener->options.refuse)
		rc = uv_listen(&listener->stream, BACKLOG, on_pipe_connection);
	return rc == 0 ? 0 : error_uv(err, rc, "cannot listen on %s", name);
}

static int open_pipe(uv_loop_t *loop, struct listener *listener, struct error *err)
{
	(void)uv_pipe_init(loop, &listener->pipe, 0); /* cannot fail */
	listener->handle.data = listener;
	int rc = listen_on_pipe(listener, err);
	if (rc < 0)
		listener_close(listener, NULL);
	return rc;
}

/*
 * Socket files.
 */

static void on_event(void *user)
{
	struct listener *listener = user;
	int code = 0;
	(void)winsock_take_event(&listener->winsock, FD_ACCEPT, &code);
	/* One event may stand for several connections. */
	while (!listener->closing && listener->accepted == INVALID_SOCKET) {
		listener->accepted = accept(listener->winsock.socket, NULL, NULL);
		if (listener->accepted == INVALID_SOCKET)
			return;
		winsock_forget_events(listener->accepted);
		listener->options.on_connection(listener, listener->options.user);
	}
}

/* As chmod() of a file that is there. */
static int restrict_file(const char *path, unsigned mode, struct error *err)
{
	SECURITY_ATTRIBUTES attributes;
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	int rc = private_attributes(mode, &attributes, err);
	if (rc < 0)
		return rc;
	if (wide == NULL)
		rc = error_memory(err);
	else if (attributes.lpSecurityDescriptor != NULL &&
		 !SetFileSecurityW(wide,
				   DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
				   attributes.lpSecurityDescriptor))
		rc = error_windows(err, GetLastError(), "access list");
	private_free(&attributes);
	return rc;
}

/* AF_UNIX: bind() makes the file. Nobody gets in before listen(). */
static int bind_unix(struct listener *listener, struct error *err)
{
	const char *path = listener->address.name;
	union winsock_address address;
	int size = winsock_unix_address(path, &address);
	if (bind(listener->winsock.socket, &address.any, size) != 0)
		return error_winsock(err, WSAGetLastError(), "cannot listen on %s", path);
	int rc = restrict_file(path, listener->options.mode, err);
	return rc < 0 ? error_wrap(err, rc, "cannot prepare %s", path) : 0;
}

static int bind_port(struct listener *listener, struct rendezvous *rendezvous, struct error *err)
{
	struct sockaddr_in bound;
	int length = sizeof(bound);
	union winsock_address address;
	int size = winsock_port_address(0, &address);
	int rc = uv_random(NULL, NULL, rendezvous->nonce, sizeof(rendezvous->nonce), 0, NULL);
	if (rc < 0)
		return error_uv(err, rc, "cannot make a nonce");
	if (bind(listener->winsock.socket, &address.any, size) != 0 ||
	    getsockname(listener->winsock.socket, (struct sockaddr *)&bound, &length) != 0)
		return error_winsock(err, WSAGetLastError(), "cannot bind a port of 127.0.0.1");
	rendezvous->port = ntohs(bound.sin_port);
	listener->has_nonce = true;
	memcpy(listener->nonce, rendezvous->nonce, sizeof(listener->nonce));
	return 0;
}

static int listen_on_file(struct listener *listener, struct error *err)
{
	const char *path = listener->address.name;
	bool has_unix = winsock_has_unix();
	struct rendezvous rendezvous = {0};
	if (socket_file_look(path, NULL) != SOCKET_FILE_NONE)
		return error_set(err, ERROR_EXISTS, "cannot listen on %s: it exists", path);
	int rc = has_unix ? bind_unix(listener, err) : bind_port(listener, &rendezvous, err);
	if (rc == 0 && !listener->options.refuse && listen(listener->winsock.socket, BACKLOG) != 0)
		rc = error_winsock(err, WSAGetLastError(), "cannot listen on %s", path);
	if (rc == 0 && !has_unix)
		rc = rendezvous_write(path, listener->options.mode, &rendezvous, err);
	if (rc < 0)
		return rc;
	if (socket_file_look(path, &listener->identity) != SOCKET_FILE_SOCKET)
		return error_set(err, ERROR_IO, "cannot listen on %s: it is gone already", path);
	return 0;
}

static int open_file(uv_loop_t *loop, struct listener *listener, struct error *err)
{
	int family = winsock_has_unix() ? AF_UNIX : AF_INET;
	int rc = winsock_open(&listener->winsock, loop, family, FD_ACCEPT, on_event, listener, err);
	if (rc < 0) {
		free(listener);
		return rc;
	}
	(void)uv_tcp_init(loop, &listener->tcp);
	listener->handle.data = listener;
	rc = listen_on_file(listener, err);
	if (rc < 0)
		listener_close(listener, NULL);
	return rc;
}

int listener_open(uv_loop_t *loop, const struct address *address,
		  const struct listener_options *options, struct listener **out, struct error *err)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	if (listener == NULL)
		return error_memory(err);
	listener->address = *address;
	listener->options = *options;
	listener->accepted = INVALID_SOCKET;
	listener->winsock = (struct winsock){.socket = INVALID_SOCKET, .event = WSA_INVALID_EVENT};
	int rc = address->kind == ADDRESS_PIPE ? open_pipe(loop, listener, err)
					       : open_file(loop, listener, err);
	if (rc == 0)
		*out = listener;
	return rc;
}

static int accept_pipe(struct listener *listener, struct transport *transport, struct error *err)
{
	int rc = uv_pipe_init(listener->handle.loop, &transport->pipe, 0);
	if (rc == 0)
		rc = uv_accept(&listener->stream, &transport->stream);
	return rc == 0 ? 0 : error_uv(err, rc, "cannot accept a connection");
}

static int accept_socket(struct listener *listener, struct transport *transport, struct error *err)
{
	SOCKET accepted = listener->accepted;
	int rc = uv_tcp_init(listener->handle.loop, &transport->tcp);
	listener->accepted = INVALID_SOCKET;
	if (rc == 0)
		rc = uv_tcp_open(&transport->tcp, accepted);
	if (rc < 0) {
		(void)closesocket(accepted);
		return error_uv(err, rc, "cannot accept a connection");
	}
	(void)uv_tcp_nodelay(&transport->tcp, 1);
	if (listener->has_nonce) {
		transport->greeting = TRANSPORT_IS_GREETED;
		memcpy(transport->nonce, listener->nonce, sizeof(transport->nonce));
	}
	return 0;
}

int listener_accept(struct listener *listener, struct transport *transport, void *user,
		    struct error *err)
{
	*transport = (struct transport){.user = user};
	int rc = listener->address.kind == ADDRESS_PIPE ? accept_pipe(listener, transport, err)
							: accept_socket(listener, transport, err);
	transport->handle.data = transport;
	transport->open = true;
	return rc;
}

void listener_close(struct listener *listener, void (*on_closed)(void *user))
{
	struct socket_identity now;
	if (listener->address.kind == ADDRESS_FILE && listener->identity.inode != 0 &&
	    socket_file_look(listener->address.name, &now) == SOCKET_FILE_SOCKET &&
	    socket_is_same(&now, &listener->identity))
		(void)socket_file_remove(listener->address.name);
	winsock_close(&listener->winsock);
	if (listener->accepted != INVALID_SOCKET)
		(void)closesocket(listener->accepted);
	listener->closing = true;
	listener->on_closed = on_closed;
	uv_close(&listener->handle, on_handle_closed);
}
