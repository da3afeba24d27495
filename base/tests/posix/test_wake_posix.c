/* SPDX-License-Identifier: MIT */
#include "base/wake.h"

#include "base/tests/unit.h"

#include <fcntl.h>
#include <unistd.h>

struct woken {
	struct wake *wake;
	int fd;
	unsigned count, until;
};

static void on_wake(void *user)
{
	struct woken *woken = user;
	char byte = 0;
	UNIT_INT(read(woken->fd, &byte, 1), 1);
	woken->count++;
	if (woken->count < woken->until)
		return;
	wake_free(woken->wake);
	woken->wake = NULL;
}

static void test_calls_as_long_as_it_is_readable(void)
{
	struct woken woken = {.until = 3};
	int ends[2] = {-1, -1};
	uv_loop_t loop;
	UNIT_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	woken.fd = ends[0];
	UNIT_INT(uv_loop_init(&loop), 0);
	UNIT_INT(wake_start(&loop, ends[0], on_wake, &woken, &woken.wake, NULL), 0);
	UNIT_INT(write(ends[1], "abc", 3), 3);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(woken.count, 3);
	UNIT_INT(uv_loop_close(&loop), 0);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void test_no_descriptor(void)
{
	struct wake *wake = NULL;
	uv_loop_t loop;
	UNIT_INT(uv_loop_init(&loop), 0);
	CU_ASSERT_TRUE(wake_start(&loop, -1, on_wake, NULL, &wake, NULL) < 0);
	CU_ASSERT_PTR_NULL(wake);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	UNIT_INT(uv_loop_close(&loop), 0);
}

UNIT_MAIN("wake", {"calls as long as it is readable", test_calls_as_long_as_it_is_readable},
	  {"no descriptor", test_no_descriptor})
