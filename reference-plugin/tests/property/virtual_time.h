/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Time that passes only when a process has nothing to do. A program that is linked with virtual_time.c
 * has clock_gettime(), epoll_wait(), epoll_pwait() and uv_random() of its own: the monotonic clock keeps
 * still while code runs and descriptors are ready, and where the loop would wait for a timer it moves
 * on to that timer at once. So a wait of five minutes takes no time, and the same program does the same
 * again. All of the program's work must be on one thread and one loop.
 */

#include <stdint.h>

uint64_t virtual_time_ms(void); /* what uv_now() and clock_monotonic_ms() say */
