/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

uint64_t clock_monotonic_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t clock_monotonic_ms(void)
{
	return clock_monotonic_ns() / 1000000U;
}

void clock_sleep_ms(uint64_t duration_ms)
{
	struct timespec left = {
		.tv_sec = (time_t)(duration_ms / 1000U),
		.tv_nsec = (long)(duration_ms % 1000U) * 1000000,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

char *clock_utc(char out[CLOCK_UTC_SIZE])
{
	struct timespec now = {0};
	struct tm parts = {0};
	char seconds[sizeof("2026-11-20T10:15:02")] = "";

	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &parts);
	(void)strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &parts);
	(void)snprintf(out, CLOCK_UTC_SIZE, "%s.%03uZ", seconds,
		       (unsigned)(now.tv_nsec / 1000000) % 1000U);
	return out;
}
