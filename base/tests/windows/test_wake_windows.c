/* SPDX-License-Identifier: MIT */
#include "base/wake.h"

#include "base/tests/unit.h"

#include <windows.h>

struct woken {
	struct wake *wake;
	HANDLE event;
	unsigned count, until;
};

static void on_wake(void *user)
{
	struct woken *woken = user;
	woken->count++;
	if (woken->count < woken->until) {
		(void)ResetEvent(woken->event);
		(void)SetEvent(woken->event); /* ready again */
		return;
	}
	wake_free(woken->wake);
	woken->wake = NULL;
}

static void test_each_signal_calls(void)
{
	struct woken woken = {.until = 5};
	uv_loop_t loop;
	woken.event = CreateEventW(NULL, TRUE, FALSE, NULL);
	UNIT_INT(uv_loop_init(&loop), 0);
	UNIT_INT(wake_start(&loop, (intptr_t)woken.event, on_wake, &woken, &woken.wake, NULL), 0);
	(void)SetEvent(woken.event);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(woken.count, 5);
	UNIT_INT(uv_loop_close(&loop), 0);
	(void)CloseHandle(woken.event);
}

static void test_freed_before_it_calls(void)
{
	struct woken woken = {.until = 1};
	uv_loop_t loop;
	woken.event = CreateEventW(NULL, TRUE, TRUE, NULL);
	UNIT_INT(uv_loop_init(&loop), 0);
	UNIT_INT(wake_start(&loop, (intptr_t)woken.event, on_wake, &woken, &woken.wake, NULL), 0);
	wake_free(woken.wake);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(woken.count, 0);
	UNIT_INT(uv_loop_close(&loop), 0);
	(void)CloseHandle(woken.event);
}

static void test_no_handle(void)
{
	struct wake *wake = NULL;
	uv_loop_t loop;
	UNIT_INT(uv_loop_init(&loop), 0);
	CU_ASSERT_TRUE(wake_start(&loop, 0, on_wake, NULL, &wake, NULL) < 0);
	CU_ASSERT_PTR_NULL(wake);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(uv_loop_close(&loop), 0);
}

UNIT_MAIN("wake", {"each signal calls", test_each_signal_calls},
	  {"freed before it calls", test_freed_before_it_calls}, {"no handle", test_no_handle})
