/* SPDX-License-Identifier: MIT */
#include "rpc/loop.h"

#include "base/cleanup.h"
#include "base/text.h"

enum { OWN_HANDLES = 2 }; /* those of loop_drain() */

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

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void timer_cancel(struct timer **timer)
{
	struct timer *gone = STEAL(*timer);
	if (gone != NULL)
		uv_close((uv_handle_t *)&gone->handle, on_closed);
}

static void set_true(void *user)
{
	*(bool *)user = true;
}

/* libuv before 1.45 runs the timers that are due, and then waits for events nevertheless: the effect of a timer would
 * be noticed only with the next event. */
struct turn {
	uv_prepare_t handle;
	uint64_t due_ms; /* of the first timer */
};

static void on_turn(uv_prepare_t *handle)
{
	const struct turn *turn = handle->data;
	if (uv_now(handle->loop) >= turn->due_ms)
		uv_stop(handle->loop);
}

static int turn_new(uv_loop_t *loop, struct turn **out, struct error *err)
{
	struct turn *turn = calloc(1, sizeof(*turn));
	if (turn == NULL)
		return error_memory(err);
	(void)uv_prepare_init(loop, &turn->handle);
	turn->handle.data = turn;
	(void)uv_prepare_start(&turn->handle, on_turn);
	uv_unref((uv_handle_t *)&turn->handle);
	*out = turn;
	return 0;
}

/* Runs the loop once. False: nothing more can happen. */
static bool turn_run(struct turn *turn)
{
	uv_loop_t *loop = turn->handle.loop;
	uv_update_time(loop);
	const int timeout_ms = uv_backend_timeout(loop);
	turn->due_ms = timeout_ms < 0 ? UINT64_MAX : uv_now(loop) + (uint64_t)timeout_ms;
	return uv_run(loop, UV_RUN_ONCE) != 0;
}

static void turn_free(struct turn **turn)
{
	struct turn *gone = STEAL(*turn);
	if (gone != NULL)
		uv_close((uv_handle_t *)&gone->handle, on_closed);
}

int loop_open(uv_loop_t *loop, struct error *err)
{
	int rc = uv_loop_init(loop);
	return rc == 0 ? 0 : error_uv(err, rc, "event loop");
}

int loop_wait(uv_loop_t *loop, loop_condition *done, void *user, uint64_t timeout_ms,
	      const char *what, struct error *err)
{
	struct turn *turn CLEANUP(turn_free) = NULL;
	struct timer *timer = NULL;
	bool late = false;
	bool is_done = done(user);
	bool alive = true;
	if (is_done)
		return 0;
	int rc = turn_new(loop, &turn, err);
	if (rc == 0 && timeout_ms != UINT64_MAX)
		rc = timer_start(loop, timeout_ms, 0, set_true, &late, &timer, err);
	if (rc < 0)
		return rc;
	while (!is_done && !late && alive) {
		alive = turn_run(turn) || late;
		is_done = done(user);
	}
	timer_cancel(&timer);
	if (is_done)
		return 0;
	if (!alive)
		return error_set(err, ERROR_TIMEOUT,
				 "waiting for %s: nothing is left that could bring it", what);
	const bool seconds = timeout_ms % 1000 == 0;
	return error_set(err, ERROR_TIMEOUT, "%llu %s without %s",
			 (unsigned long long)(seconds ? timeout_ms / 1000 : timeout_ms),
			 seconds ? "s" : "ms", what);
}

static bool never(void *user)
{
	(void)user;
	return false;
}

void loop_run_for(uv_loop_t *loop, uint64_t duration_ms)
{
	(void)loop_wait(loop, never, NULL, duration_ms, "time to pass", NULL);
}

struct open_handles {
	struct text names;
	size_t count;
};

static void on_handle(uv_handle_t *handle, void *user)
{
	struct open_handles *open = user;
	const char *name = uv_handle_type_name(handle->type);
	open->count++;
	text_add_item(&open->names, ", ", name != NULL ? name : "unknown");
}

static size_t count_handles(uv_loop_t *loop, struct open_handles *open)
{
	text_reset(&open->names);
	open->count = 0;
	uv_walk(loop, on_handle, open);
	return open->count;
}

int loop_drain(uv_loop_t *loop, uint64_t timeout_ms, struct error *err)
{
	struct open_handles open = {0};
	struct turn *turn CLEANUP(turn_free) = NULL;
	struct timer *timer = NULL;
	bool late = false;
	int rc = turn_new(loop, &turn, err);
	if (rc == 0)
		rc = timer_start(loop, timeout_ms, 0, set_true, &late, &timer, err);
	if (rc < 0)
		return rc;
	while (count_handles(loop, &open) > OWN_HANDLES && !late)
		(void)turn_run(turn);
	timer_cancel(&timer);
	turn_free(&turn);
	(void)uv_run(loop, UV_RUN_NOWAIT);
	rc = 0;
	if (count_handles(loop, &open) > 0)
		rc = error_set(err, ERROR_TIMEOUT, "handles are still open after %llu ms: %s",
			       (unsigned long long)timeout_ms, text_string(&open.names));
	text_free(&open.names);
	if (rc != 0)
		return rc;
	rc = uv_loop_close(loop);
	return rc == 0 ? 0 : error_uv(err, rc, "cannot close the loop");
}
