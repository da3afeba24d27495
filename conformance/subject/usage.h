/* SPDX-License-Identifier: MIT */
#pragma once

/* What a plugin's processes use, as Linux shows it in /proc. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usage {
	long long memory; /* bytes that are neither files nor shared (RssAnon) */
	long long descriptors, threads;
	uint64_t cpu_ms; /* of the processes that run now */
	uint64_t
		wait_ms; /* that their threads were ready to run, on a machine that did something else */
};

/* The sum over these processes and all that descend from them; 0 is none. False: none was found, or this system
 * has no /proc. */
bool usage_read(const int *roots, size_t count, struct usage *out);
