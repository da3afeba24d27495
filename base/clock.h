/* SPDX-License-Identifier: MIT */
#pragma once

/* Monotonic time for durations and deadlines, UTC for people. */

#include <stdint.h>

enum { CLOCK_UTC_SIZE = sizeof("2026-11-20T10:15:02.123Z") };

uint64_t clock_monotonic_ns(void);
uint64_t clock_monotonic_ms(void);

/* Since 1970; may be set back. */
int64_t clock_realtime_ns(void);

/* Waits in place, signals notwithstanding: for programs without a loop. */
void clock_sleep_ms(uint64_t duration_ms);

/* RFC 3339 with milliseconds into `out`; returns `out`. */
char *clock_utc(char out[CLOCK_UTC_SIZE]);
