/* SPDX-License-Identifier: MIT */
#pragma once

/* libuv timers that can be let go of at any time: their memory outlives the handle. */

#include "base/error.h"

#include <stdint.h>
#include <uv.h>

struct timer;

/* `repeat_ms` 0: once. The timer stays the caller's until timer_cancel(), also after it fired. */
int timer_start(uv_loop_t *loop, uint64_t timeout_ms, uint64_t repeat_ms,
		void (*on_time)(void *user), void *user, struct timer **out, struct error *err);

/* Takes the timer out of the variable; it does not fire any more. NULL in the variable is allowed.
 */
void timer_cancel(struct timer **timer);
