/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A small HTTP server for metrics and health: one request a connection, GET and HEAD, on this machine only. A head has at most
 * HTTP_REQUEST_MAX bytes; MONITOR_CONNECTIONS_MAX connections are served at once, each for at most MONITOR_TIMEOUT_MS.
 */

#include "base/error.h"
#include "base/text.h"

#include <uv.h>

enum { MONITOR_CONNECTIONS_MAX = 16, MONITOR_TIMEOUT_MS = 5000 };

struct monitor;

/* Adds the body of an answer. Returns its HTTP status: 200, 404, 503. */
typedef int monitor_answer(const char *path, struct text *body, void *user);

/*
 * Serves at "127.0.0.1:PORT", "[::1]:PORT" (0: any free port; the log names it) or, not on Windows, "unix:PATH", where
 * a socket that nobody listens on is replaced; it has mode 0600. ERROR_ARGUMENT: another address; ERROR_LIMIT: a path
 * that is too long; ERROR_BUSY: another program has the address; and errors of bind().
 */
int monitor_open(uv_loop_t *loop, const char *address, monitor_answer *answer, void *user,
		 struct monitor **out, struct error *err);

/* Ends all connections; the loop must run until it has no handles. NULL is allowed. */
void monitor_close(struct monitor *monitor);
