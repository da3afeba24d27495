/* SPDX-License-Identifier: MIT */
#include "rpc/timer.h"

#include "base/cleanup.h"

struct timer {
	uv_timer_t handle;
	void (*on_time)(void *user);
	void *user;
};

static void on_timer(uv_timer_t *handle)
{
	const struct timer *timer = handle->data;
	timer->on_time(timer->user);
}

int timer_start(uv_loop_t *loop, uint64_t timeout_ms, uint64_t repeat_ms,
		void (*on_time)(void *user), void *user, struct timer **out, struct error *err)
{
	struct timer *timer = calloc(1, sizeof(*timer));
	if (timer == NULL)
		return error_memory(err);
	timer->on_time = on_time;
	timer->user = user;
	(void)uv_timer_init(loop, &timer->handle);
	timer->handle.data = timer;
	uv_update_time(loop);
	(void)uv_timer_start(&timer->handle, on_timer, timeout_ms, repeat_ms);
	*out = timer;
	return 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void timer_cancel(struct timer **timer)
{
	struct timer *gone = STEAL(*timer);
	if (gone != NULL)
		uv_close((uv_handle_t *)&gone->handle, on_timer_closed);
}
