/* SPDX-License-Identifier: MIT */
#include "rpc/transport.h"
#include "rpc/windows/winsock.h"

#include <stdlib.h>
#include <string.h>

int transport_peer(const struct transport *transport)
{
	(void)transport;
	return 0;
}

/* A connection to a socket file that is being made. */
struct pending_connect {
	struct winsock winsock;
	bool stands; /* connect() succeeded immediately */
	struct error why;
};

static void pending_free(struct transport *transport)
{
	transport->give_up = NULL;
	winsock_close(&transport->pending->winsock);
	free(transport->pending);
	transport->pending = NULL;
}

static void on_event(void *user)
{
	struct transport *transport = user;
	struct pending_connect *pending = transport->pending;
	struct error why = pending->why;
	bool decided = pending->stands || why.code != 0;
	int code = 0;
	if (!decided && !winsock_take_event(&pending->winsock, FD_CONNECT, &code))
		return;
	if (code != 0)
		(void)error_winsock(&why, code, "cannot connect to %s", transport->address.name);
	if (why.code == 0) {
		SOCKET connected = winsock_release(&pending->winsock);
		int rc = uv_tcp_open(&transport->tcp, connected);
		if (rc == 0) {
			(void)uv_tcp_nodelay(&transport->tcp,
					     1); /* neither possible nor needed with AF_UNIX */
		} else {
			(void)closesocket(connected);
			(void)error_uv(&why, rc, "cannot use the connection");
		}
	}
	pending_free(transport);
	transport->on_connected(transport, why.code != 0 ? &why : NULL);
}

int transport_connect(struct transport *transport, uv_loop_t *loop, const struct address *address,
		      transport_connected *on_connected, void *user, struct error *err)
{
	const bool has_unix = winsock_has_unix();
	const char *name = address->name;
	*transport =
		(struct transport){.address = *address, .on_connected = on_connected, .user = user};
	if (address->kind == ADDRESS_PIPE)
		return transport_connect_pipe(transport, loop, err);
	struct pending_connect *pending = calloc(1, sizeof(*pending));
	if (pending == NULL)
		return error_memory(err);
	transport->pending = pending;
	int rc = winsock_open(&pending->winsock, loop, has_unix ? AF_UNIX : AF_INET, FD_CONNECT,
			      on_event, transport, err);
	transport->give_up = pending_free;
	if (rc < 0) {
		pending_free(transport);
		return rc;
	}
	(void)uv_tcp_init(loop, &transport->tcp);
	transport->tcp.data = transport;
	transport->open = true;

	/* The result is reported from the loop, by the event. */
	union winsock_address target;
	struct rendezvous rendezvous;
	int size = 0;
	if (has_unix) {
		size = winsock_unix_address(name, &target);
	} else if (rendezvous_read(name, &rendezvous, &pending->why) == 0) {
		transport->greeting = TRANSPORT_GREETS;
		memcpy(transport->nonce, rendezvous.nonce, sizeof(transport->nonce));
		size = winsock_port_address(rendezvous.port, &target);
	} else {
		(void)error_wrap(&pending->why, pending->why.code, "cannot connect to %s", name);
	}
	if (size > 0) {
		pending->stands = connect(pending->winsock.socket, &target.any, size) == 0;
		if (!pending->stands && WSAGetLastError() != WSAEWOULDBLOCK)
			(void)error_winsock(&pending->why, WSAGetLastError(),
					    "cannot connect to %s", name);
	}
	if (pending->stands || pending->why.code != 0)
		(void)WSASetEvent(pending->winsock.event);
	return 0;
}
