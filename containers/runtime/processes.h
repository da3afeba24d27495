/* SPDX-License-Identifier: MIT */
#pragma once

/* Ending processes of dead runs by what they are, without hitting a reused process id (pidfd). */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sends SIGKILL to a process if `matches` still holds once it is pinned, and waits until it has
 * ended. A process that is gone already is success. `killed` is counted up.
 * ERROR_TIMEOUT after 10 s (a process in an uninterruptible wait), ERROR_UNSUPPORTED: the kernel
 * has no pidfd_open (before 5.3). */
int process_kill_matching(pid_t pid, bool (*matches)(pid_t pid, const void *user), const void *user,
			  size_t *killed, struct error *err);

/* Is it containerd, one of its shims or ctr, with a path below `directory` among its arguments? */
bool process_is_containerd_of(pid_t pid, const void *directory);

/* Ends every process for which process_is_containerd_of() holds, until there is none. */
int processes_kill_containerd(const char *directory, size_t *killed, struct error *err);

/* The rule of process_is_containerd_of() over the content of /proc/PID/cmdline: NUL-ended words. */
bool cmdline_is_containerd_of(const char *cmdline, size_t size, const char *directory);
