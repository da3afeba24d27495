/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <uv.h>

#ifdef _WIN32
uint64_t clock_monotonic_ns(void)
{
	return uv_hrtime();
}

void clock_sleep_ms(uint64_t duration_ms)
{
	uv_sleep((unsigned)duration_ms);
}

static void clock_parts(const time_t *seconds, struct tm *parts)
{
	(void)gmtime_s(parts, seconds);
}
#else
uint64_t clock_monotonic_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
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

static void clock_parts(const time_t *seconds, struct tm *parts)
{
	(void)gmtime_r(seconds, parts);
}
#endif

uint64_t clock_monotonic_ms(void)
{
	return clock_monotonic_ns() / 1000000U;
}

int64_t clock_realtime_ns(void)
{
	uv_timeval64_t now = {0};

	(void)uv_gettimeofday(&now);
	return (int64_t)now.tv_sec * 1000000000 + (int64_t)now.tv_usec * 1000;
}

char *clock_utc(char out[CLOCK_UTC_SIZE])
{
	uv_timeval64_t now = {0};
	struct tm parts = {0};
	char seconds[sizeof("2026-11-20T10:15:02")] = "";
	time_t since_1970 = 0;

	(void)uv_gettimeofday(&now);
	since_1970 = (time_t)now.tv_sec;
	clock_parts(&since_1970, &parts);
	(void)strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &parts);
	(void)snprintf(out, CLOCK_UTC_SIZE, "%s.%03uZ", seconds,
		       (unsigned)now.tv_usec / 1000U % 1000U);
	return out;
}
