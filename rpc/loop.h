/* SPDX-License-Identifier: MIT */
#pragma once

/* Running a libuv loop until something has happened, which makes straight-line code possible in tests
 * and checks; and timers. */

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/*
 * Timers that can be cancelled at any time: their memory outlives the handle.
 */

struct timer;

/* `repeat_ms` 0: once. The timer stays the caller's until timer_cancel(), also after it fired. */
int timer_start(uv_loop_t *loop, uint64_t timeout_ms, uint64_t repeat_ms,
		void (*on_time)(void *user), void *user, struct timer **out, struct error *err);

/* Takes the timer out of the variable; it does not fire any more. NULL in the variable is allowed.
 */
void timer_cancel(struct timer **timer);

/*
 * Loops.
 */

/* Makes a loop. It needs descriptors, of which there may be none left. */
int loop_open(uv_loop_t *loop, struct error *err);

typedef bool loop_condition(void *user);

/* Runs the loop until `done(user)` is true, which is checked after every round of events.
 * ERROR_TIMEOUT after `timeout_ms` (UINT64_MAX: never), naming `what`. */
int loop_wait(uv_loop_t *loop, loop_condition *done, void *user, uint64_t timeout_ms,
	      const char *what, struct error *err);

/* Runs the loop for `duration_ms`: for waits that are part of the measurement (no message may
 * arrive for a while), never to hope that something is ready by then. */
void loop_run_for(uv_loop_t *loop, uint64_t duration_ms);

/* Runs the loop until every handle is closed, then closes the loop. ERROR_TIMEOUT naming the kinds
 * of the handles that are still open after `timeout_ms`. */
int loop_drain(uv_loop_t *loop, uint64_t timeout_ms, struct error *err);
