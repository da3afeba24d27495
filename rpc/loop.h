/* SPDX-License-Identifier: MIT */
#pragma once

/* Running a libuv loop until something has happened: what makes straight-line code possible in
 * tests and checks. */

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* Makes a loop. It needs descriptors, of which there may be none left. */
int loop_open(uv_loop_t *loop, struct error *err);

typedef bool loop_condition(void *user);

/* Runs the loop until `done(user)` is true, looked at after every round of events. ERROR_TIMEOUT
 * after `timeout_ms` (UINT64_MAX: never), naming `what`. */
int loop_wait(uv_loop_t *loop, loop_condition *done, void *user, uint64_t timeout_ms,
	      const char *what, struct error *err);

/* Runs the loop for `duration_ms`: a wait that belongs to what is measured (no message may come for
 * a while), never one that hopes something is ready by then. */
void loop_run_for(uv_loop_t *loop, uint64_t duration_ms);

/* Runs the loop until every handle is closed, then closes the loop. ERROR_TIMEOUT naming the kinds
 * of the handles that are still open after `timeout_ms`. */
int loop_drain(uv_loop_t *loop, uint64_t timeout_ms, struct error *err);
