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

/* libuv's own calls come here, too. Parameters have the names of the system's headers. */
#pragma GCC visibility push(default)

int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
	if (clock_id != CLOCK_MONOTONIC && clock_id != CLOCK_MONOTONIC_COARSE)
		return (int)syscall(SYS_clock_gettime, clock_id, tp);
	*tp = (struct timespec){.tv_sec = (time_t)(now_ms / 1000),
				.tv_nsec = (long)(now_ms % 1000) * 1000000};
	return 0;
}

int epoll_pwait(int epfd, struct epoll_event *events, int maxevents, int timeout,
		const sigset_t *ss)
{
	int count =
		(int)syscall(SYS_epoll_pwait, epfd, events, maxevents, 0, ss, KERNEL_SIGNALS_SIZE);
	if (count != 0 || timeout == 0)
		return count;
	if (timeout < 0) {
		(void)fputs("the loop waits, and nothing can come\n", stderr);
		abort();
	}
	now_ms += (uint64_t)timeout;
	return 0;
}

int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	return epoll_pwait(epfd, events, maxevents, timeout, NULL);
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
