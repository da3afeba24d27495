/* SPDX-License-Identifier: MIT */
#pragma once

/* Winsock's sockets before libuv takes them over: libuv connects and accepts by extensions of
 * Winsock that AF_UNIX does not have. */

#include "base/wake.h"
#include "rpc/address.h"
#include "rpc/rendezvous.h"
#include "rpc/socket.h"

#include <stdbool.h>
#include <winsock2.h>

/* Does this Windows have AF_UNIX? Windows 10 1803 and later do; Wine 10 does not. */
bool winsock_has_unix(void);

/* A non-blocking socket whose events call back on a loop. */
struct winsock {
	SOCKET socket;
	WSAEVENT event;
	struct wake *wake;
};

/* `events`: FD_CONNECT, FD_ACCEPT. Nothing is open after an error. */
int winsock_open(struct winsock *winsock, uv_loop_t *loop, int family, long events,
		 void (*on_event)(void *user), void *user, struct error *err);
/* The network event and its error, a Winsock code; false: none of `events` occurred. */
bool winsock_take_event(struct winsock *winsock, long event, int *code);
/* Releases the socket and closes the rest. */
SOCKET winsock_release(struct winsock *winsock);
void winsock_close(struct winsock *winsock);

/* An accepted socket without the events of the listening one. */
void winsock_forget_events(SOCKET made);

/* The sockaddr of a socket file, or of a port of 127.0.0.1. */
union winsock_address {
	struct sockaddr any;
	char room[128];
};
int winsock_unix_address(const char *path, union winsock_address *out);
int winsock_port_address(uint16_t port, union winsock_address *out); /* both: its size */

/* As error_uv() for a Winsock code. */
int error_winsock(struct error *err, int code, const char *format, ...) PRINTF_LIKE(3, 4);

/* Rendezvous files. Reading: ERROR_NOT_FOUND, ERROR_FORMAT, ... Writing: the file appears with its
 * content; ERROR_EXISTS when the path exists. */
int rendezvous_read(const char *path, struct rendezvous *out, struct error *err);
int rendezvous_write(const char *path, unsigned mode, const struct rendezvous *rendezvous,
		     struct error *err);

/* The kind of file at a path, links not followed. */
enum socket_file_kind {
	SOCKET_FILE_NONE,  /* nothing */
	SOCKET_FILE_OTHER, /* something else */
	SOCKET_FILE_SOCKET,
};

enum socket_file_kind socket_file_look(const char *path, struct socket_identity *identity);

/* Removes the file. False: it still exists. */
bool socket_file_remove(const char *path);
