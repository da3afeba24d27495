/* SPDX-License-Identifier: MIT */
#include "rpc/windows/winsock.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "base/windows/wide.h"

#include <afunix.h>
#include <stdarg.h>
#include <string.h>
#include <ws2tcpip.h>

int error_winsock(struct error *err, int code, const char *format, ...)
{
	char text[ERROR_TEXT_SIZE];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return error_uv(err, uv_translate_sys_error(code), "%s", text);
}

static SOCKET make_socket(int family)
{
	static bool started;
	WSADATA data;
	started = started || WSAStartup(MAKEWORD(2, 2), &data) == 0;
	if (!started)
		return INVALID_SOCKET;
	return WSASocketW(family, SOCK_STREAM, 0, NULL, 0,
			  WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
}

bool winsock_has_unix(void)
{
	static int known = -1;
	if (known < 0) {
		SOCKET probe = make_socket(AF_UNIX);
		known = probe != INVALID_SOCKET || WSAGetLastError() != WSAEAFNOSUPPORT;
		if (probe != INVALID_SOCKET)
			(void)closesocket(probe);
	}
	return known != 0;
}

int winsock_open(struct winsock *winsock, uv_loop_t *loop, int family, long events,
		 void (*on_event)(void *user), void *user, struct error *err)
{
	int rc = 0;
	*winsock = (struct winsock){.socket = make_socket(family), .event = WSA_INVALID_EVENT};
	if (winsock->socket == INVALID_SOCKET)
		return error_winsock(err, WSAGetLastError(), "cannot make a socket");
	winsock->event = WSACreateEvent();
	if (winsock->event == WSA_INVALID_EVENT ||
	    WSAEventSelect(winsock->socket, winsock->event, events) != 0)
		rc = error_winsock(err, WSAGetLastError(), "cannot watch a socket");
	else
		rc = wake_start(loop, (intptr_t)winsock->event, on_event, user, &winsock->wake,
				err);
	if (rc < 0)
		winsock_close(winsock);
	return rc;
}

bool winsock_take_event(struct winsock *winsock, long event, int *code)
{
	WSANETWORKEVENTS events = {0};
	int bit = event == FD_CONNECT ? FD_CONNECT_BIT : FD_ACCEPT_BIT;
	if (WSAEnumNetworkEvents(winsock->socket, winsock->event, &events) != 0) {
		*code = WSAGetLastError();
		(void)WSAResetEvent(winsock->event);
		return true;
	}
	*code = events.iErrorCode[bit];
	return (events.lNetworkEvents & event) != 0;
}

void winsock_forget_events(SOCKET made)
{
	(void)WSAEventSelect(made, NULL, 0);
}

SOCKET winsock_release(struct winsock *winsock)
{
	SOCKET taken = winsock->socket;
	winsock_forget_events(taken);
	winsock->socket = INVALID_SOCKET;
	winsock_close(winsock);
	return taken;
}

void winsock_close(struct winsock *winsock)
{
	wake_free(winsock->wake);
	if (winsock->socket != INVALID_SOCKET)
		(void)closesocket(winsock->socket);
	if (winsock->event != WSA_INVALID_EVENT)
		(void)WSACloseEvent(winsock->event);
	*winsock = (struct winsock){.socket = INVALID_SOCKET, .event = WSA_INVALID_EVENT};
}

int winsock_unix_address(const char *path, union winsock_address *out)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_Static_assert(sizeof(address) <= sizeof(*out), "room for every kind");
	_Static_assert(sizeof(address.sun_path) == ADDRESS_PATH_MAX + 1, "the limit is Winsock's");
	memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
	memcpy(out, &address, sizeof(address));
	return (int)sizeof(address);
}

int winsock_port_address(uint16_t port, union winsock_address *out)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(out, &address, sizeof(address));
	return (int)sizeof(address);
}

int rendezvous_read(const char *path, struct rendezvous *out, struct error *err)
{
	char *text CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(path, RENDEZVOUS_TEXT_MAX, &text, &size, err);
	return rc < 0 ? rc : rendezvous_parse(text, size, out, err);
}

int rendezvous_write(const char *path, unsigned mode, const struct rendezvous *rendezvous,
		     struct error *err)
{
	char text[RENDEZVOUS_TEXT_MAX];
	char *new CLEANUP_FREE = text_format("%s.%lu", path, (unsigned long)GetCurrentProcessId());
	wchar_t *from CLEANUP_FREE = new == NULL ? NULL : wide_path(new);
	wchar_t *to CLEANUP_FREE = wide_path(path);
	if (from == NULL || to == NULL)
		return error_memory(err);
	rendezvous_format(rendezvous, text);
	int rc = file_write_atomic(new, text, strlen(text), mode, err);
	if (rc < 0)
		return rc;
	if (MoveFileExW(from, to, 0))
		return 0;
	rc = error_windows(err, GetLastError(), "cannot make %s", path);
	(void)DeleteFileW(from);
	return rc;
}
