/* SPDX-License-Identifier: MIT */
#include "reference-plugin/tests/property/virtual_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum { KERNEL_SIGNALS_SIZE = 8 };

static uint64_t now_ms = UINT64_C(1000000);

uint64_t virtual_time_ms(void)
{
	return now_ms;
}

/* libuv's own calls come here, too. */
#pragma GCC visibility push(default)

int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE)
		return (int)syscall(SYS_clock_gettime, clock, out);
	*out = (struct timespec){.tv_sec = (time_t)(now_ms / 1000),
				 .tv_nsec = (long)(now_ms % 1000) * 1000000};
	return 0;
}

int epoll_pwait(int epoll, struct epoll_event *events, int size, int timeout, const sigset_t *mask)
{
	int count =
		(int)syscall(SYS_epoll_pwait, epoll, events, size, 0, mask, KERNEL_SIGNALS_SIZE);
	if (count != 0 || timeout == 0)
		return count;
	if (timeout < 0) {
		(void)fputs("the loop waits, and nothing can come\n", stderr);
		abort();
	}
	now_ms += (uint64_t)timeout;
	return 0;
}

int epoll_wait(int epoll, struct epoll_event *events, int size, int timeout)
{
	return epoll_pwait(epoll, events, size, timeout, NULL);
}

int uv_random(uv_loop_t *loop, uv_random_t *request, void *out, size_t size, unsigned flags,
	      uv_random_cb done)
{
	static uint8_t next;
	(void)loop;
	(void)request;
	(void)flags;
	(void)done;
	memset(out, next += 37, size);
	return 0;
}

#pragma GCC visibility pop
