/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Requests to end the program, on a libuv loop: SIGTERM, SIGINT, SIGQUIT, SIGUSR1, and SIGHUP
 * unless it is ignored as under nohup; on Windows Ctrl-C, Ctrl-Break, the closing of the console,
 * the end of the session or of the system, what the service control manager says
 * (base/windows_service.h), and the event of base/windows/stop_event.h.
 *
 * `on_request` gets the first request once the loop runs. A second one that can wait ends the program at
 * once, as it would without this, even while the program waits for something other than the loop.
 */

#include "base/error.h"

#include <uv.h>

struct termination;

/* `what` names the request: "SIGTERM", "Ctrl-Break", "a service stop". A program has one of these
 * at a time. ERROR_MEMORY; ERROR_UNSUPPORTED: the system does not take a handler. */
int termination_open(uv_loop_t *loop, void (*on_request)(const char *what, void *user), void *user,
		     struct termination **out, struct error *err);

/* From now on requests are the system's to handle. The memory is freed when libuv has closed its
 * handles. NULL is allowed. */
void termination_close(struct termination *termination);
