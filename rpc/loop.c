/* SPDX-License-Identifier: MIT */
#include "rpc/loop.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <stdlib.h>

/* A timer of its own memory, since a handle outlives uv_close() by a turn of the loop. */
struct alarm {
	uv_timer_t timer;
	bool rang;
};

static void on_alarm(uv_timer_t *timer)
{
	struct alarm *alarm = timer->data;
	alarm->rang = true;
}

static struct alarm *alarm_start(uv_loop_t *loop, uint64_t timeout_ms)
{
	struct alarm *alarm = calloc(1, sizeof(*alarm));
	if (alarm == NULL)
		return NULL;
	(void)uv_timer_init(loop, &alarm->timer);
	alarm->timer.data = alarm;
	uv_update_time(loop);
	if (timeout_ms != UINT64_MAX)
		(void)uv_timer_start(&alarm->timer, on_alarm, timeout_ms, 0);
	return alarm;
}

static void on_alarm_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void alarm_stop(struct alarm *alarm)
{
	uv_close((uv_handle_t *)&alarm->timer, on_alarm_closed);
}

int loop_open(uv_loop_t *loop, struct error *err)
{
	int rc = uv_loop_init(loop);
	return rc == 0 ? 0 : error_uv(err, rc, "event loop");
}

int loop_wait(uv_loop_t *loop, loop_condition *done, void *user, uint64_t timeout_ms,
	      const char *what, struct error *err)
{
	bool is_done = done(user);
	bool alive = true;
	if (is_done)
		return 0;
	struct alarm *alarm = alarm_start(loop, timeout_ms);
	if (alarm == NULL)
		return error_memory(err);
	while (!is_done && !alarm->rang && alive) {
		alive = uv_run(loop, UV_RUN_ONCE) != 0 || alarm->rang;
		is_done = done(user);
	}
	alarm_stop(alarm);
	if (is_done)
		return 0;
	if (!alive)
		return error_set(err, ERROR_TIMEOUT,
				 "waiting for %s: nothing is left that could bring it", what);
	return error_set(err, ERROR_TIMEOUT, "waiting for %s: not within %llu ms", what,
			 (unsigned long long)timeout_ms);
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
	const struct alarm *alarm;
	struct text *names;
	size_t count;
};

static void on_handle(uv_handle_t *handle, void *user)
{
	struct open_handles *open = user;
	const char *name = uv_handle_type_name(handle->type);
	if (open->alarm != NULL && handle == (const uv_handle_t *)&open->alarm->timer)
		return;
	open->count++;
	if (open->names != NULL)
		text_addf(open->names, "%s%s", open->names->size > 0 ? ", " : "",
			  name != NULL ? name : "unknown");
}

static size_t count_handles(uv_loop_t *loop, const struct alarm *alarm, struct text *names)
{
	struct open_handles open = {.alarm = alarm, .names = names};

	uv_walk(loop, on_handle, &open);
	return open.count;
}

int loop_drain(uv_loop_t *loop, uint64_t timeout_ms, struct error *err)
{
	struct alarm *alarm = alarm_start(loop, timeout_ms);
	struct text names CLEANUP_TEXT = {0};
	bool rang = false;
	if (alarm == NULL)
		return error_memory(err);
	while (count_handles(loop, alarm, NULL) > 0 && !alarm->rang)
		(void)uv_run(loop, UV_RUN_ONCE);
	rang = alarm->rang;
	(void)count_handles(loop, alarm, &names);
	alarm_stop(alarm);
	(void)uv_run(loop, UV_RUN_NOWAIT);
	if (rang && names.size > 0)
		return error_set(err, ERROR_TIMEOUT, "handles are still open after %llu ms: %s",
				 (unsigned long long)timeout_ms, text_string(&names));
	int rc = uv_loop_close(loop);
	return rc == 0 ? 0 : error_uv(err, rc, "cannot close the loop");
}
