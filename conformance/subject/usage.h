/* SPDX-License-Identifier: MIT */
#pragma once

/* The resources that a plugin's processes use, from Linux' /proc. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usage {
	long long memory; /* bytes that are not of files (RssAnon and RssShmem) */
	long long descriptors, threads;
	uint64_t cpu_ms;  /* of the processes that run now */
	uint64_t wait_ms; /* that their threads were ready to run while the machine did something
			  * else */
};

/* The file /proc/PID/NAME; NULL: the process is gone, or is not ours to see. Caller frees. */
char *usage_read_file(int pid, const char *name);

/* The number after `name`, such as "\nThreads:", in a process' status; 0: it has none, or `status` is NULL. */
long long usage_field(const char *status, const char *name);

/* Open descriptors of a process; -1: unknown. */
long long usage_descriptors(int pid);

/* The sum over these processes and all that descend from them; 0 is none. False: none was found, or this system
 * has no /proc. */
bool usage_read(const int *roots, size_t count, struct usage *out);
