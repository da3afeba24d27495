/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/windows/private.h"
#include "base/windows/wide.h"
#include "rpc/transport.h"
#include "rpc/windows/winsock.h"

#include <stdio.h>
#include <string.h>

enum { BACKLOG = 128 };

struct listener {
	uv_tcp_t tcp; /* closing it ends the listener */
	struct address address;
	struct listener_options options;
	struct winsock winsock;
	SOCKET accepted;	      /* waits for listener_accept() */
	struct rendezvous rendezvous; /* without AF_UNIX; its port is 0 otherwise */
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

static void on_event(void *user)
{
	struct listener *listener = user;
	int code = 0;
	(void)winsock_take_event(&listener->winsock, FD_ACCEPT, &code);
	/* One event may announce several connections. */
	while (!listener->closing && listener->accepted == INVALID_SOCKET) {
		listener->accepted = accept(listener->winsock.socket, NULL, NULL);
		if (listener->accepted == INVALID_SOCKET)
			return;
		winsock_forget_events(listener->accepted);
		listener->options.on_connection(listener, listener->options.user);
	}
}

/* As chmod() of an existing file. */
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

static int bind_port(struct listener *listener, struct error *err)
{
	struct rendezvous *rendezvous = &listener->rendezvous;
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
	return 0;
}

static int listen_on_file(struct listener *listener, struct error *err)
{
	const char *path = listener->address.name;
	bool has_unix = winsock_has_unix();
	if (socket_file_look(path, NULL) != SOCKET_FILE_NONE)
		return error_set(err, ERROR_EXISTS, "cannot listen on %s: it exists", path);
	int rc = 0;
	if (has_unix) {
		/* bind() makes the file. Nobody can connect before listen(). */
		union winsock_address address;
		int size = winsock_unix_address(path, &address);
		if (bind(listener->winsock.socket, &address.any, size) != 0)
			return error_winsock(err, WSAGetLastError(), "cannot listen on %s", path);
		rc = restrict_file(path, listener->options.mode, err);
		if (rc < 0)
			(void)error_wrap(err, rc, "cannot prepare %s", path);
	} else {
		rc = bind_port(listener, err);
	}
	if (rc == 0 && !listener->options.refuse && listen(listener->winsock.socket, BACKLOG) != 0)
		rc = error_winsock(err, WSAGetLastError(), "cannot listen on %s", path);
	if (rc == 0 && !has_unix)
		rc = rendezvous_write(path, listener->options.mode, &listener->rendezvous, err);
	if (rc < 0)
		return rc;
	if (socket_file_look(path, &listener->identity) != SOCKET_FILE_SOCKET)
		return error_set(err, ERROR_IO, "cannot listen on %s: it is gone already", path);
	return 0;
}

int listener_open(uv_loop_t *loop, const struct address *address,
		  const struct listener_options *options, struct listener **out, struct error *err)
{
	int family = winsock_has_unix() ? AF_UNIX : AF_INET;
	if (address->kind == ADDRESS_PIPE)
		return error_set(err, ERROR_UNSUPPORTED, "cannot listen on %s: it is a named pipe",
				 address->name);
	struct listener *listener = calloc(1, sizeof(*listener));
	if (listener == NULL)
		return error_memory(err);
	listener->address = *address;
	listener->options = *options;
	listener->accepted = INVALID_SOCKET;
	int rc = winsock_open(&listener->winsock, loop, family, FD_ACCEPT, on_event, listener, err);
	if (rc < 0) {
		free(listener);
		return rc;
	}
	(void)uv_tcp_init(loop, &listener->tcp);
	listener->tcp.data = listener;
	rc = listen_on_file(listener, err);
	if (rc < 0)
		listener_close(listener, NULL);
	else
		*out = listener;
	return rc;
}

int listener_accept(struct listener *listener, struct transport *transport, void *user)
{
	SOCKET accepted = listener->accepted;
	*transport = (struct transport){.user = user};
	listener->accepted = INVALID_SOCKET;
	int rc = uv_tcp_init(listener->tcp.loop, &transport->tcp);
	transport->handle.data = transport;
	transport->open = true;
	if (rc == 0)
		rc = uv_tcp_open(&transport->tcp, accepted);
	if (rc < 0) {
		(void)closesocket(accepted);
		return rc;
	}
	(void)uv_tcp_nodelay(&transport->tcp, 1);
	if (listener->rendezvous.port != 0) {
		transport->greeting = TRANSPORT_IS_GREETED;
		memcpy(transport->nonce, listener->rendezvous.nonce, sizeof(transport->nonce));
	}
	return 0;
}

void listener_close(struct listener *listener, void (*on_closed)(void *user))
{
	struct socket_identity now;
	if (listener->identity.inode != 0 &&
	    socket_file_look(listener->address.name, &now) == SOCKET_FILE_SOCKET &&
	    socket_is_same(&now, &listener->identity))
		(void)socket_file_remove(listener->address.name);
	winsock_close(&listener->winsock);
	if (listener->accepted != INVALID_SOCKET)
		(void)closesocket(listener->accepted);
	listener->closing = true;
	listener->on_closed = on_closed;
	uv_close((uv_handle_t *)&listener->tcp, on_handle_closed);
}
