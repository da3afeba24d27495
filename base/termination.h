/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Requests to end the program, on a libuv loop: SIGTERM, SIGINT, SIGQUIT, SIGUSR1, and SIGHUP unless it
 * is ignored as under nohup; on Windows Ctrl-C, Ctrl-Break, the closing of the console, logoff,
 * shutdown, requests of the service control manager (base/windows_service.h), and the event of
 * base/windows/stop_event.h.
 *
 * `on_request` gets the first request once the loop runs. A second one ends the program at once, as it
 * would without this, even while the loop is blocked, unless it is one that cannot wait.
 */

#include "base/error.h"

#include <uv.h>

struct termination;

/* `what` names the request: "SIGTERM", "Ctrl-Break", "a service stop". A program has one of these
 * at a time. ERROR_MEMORY; ERROR_UNSUPPORTED: the system does not accept a handler. */
int termination_open(uv_loop_t *loop, void (*on_request)(const char *what, void *user), void *user,
		     struct termination **out, struct error *err);

/* From now on the system handles requests. The memory is freed when libuv has closed its handles.
 * NULL is allowed. */
void termination_close(struct termination *termination);
