/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>
#include <uv.h>

uint64_t clock_monotonic_ns(void)
{
	return uv_hrtime();
}

void clock_sleep_ms(uint64_t duration_ms)
{
	uv_sleep((unsigned)duration_ms);
}

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
	(void)uv_gettimeofday(&now);
	time_t since_1970 = (time_t)now.tv_sec;
	(void)gmtime_r(&since_1970, &parts);
	(void)strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &parts);
	(void)snprintf(out, CLOCK_UTC_SIZE, "%s.%03uZ", seconds,
		       (unsigned)now.tv_usec / 1000U % 1000U);
	return out;
}
