/* SPDX-License-Identifier: MIT */
#pragma once

/* Removes everything that a private containerd leaves on the machine, without the help of that
 * containerd: processes, control groups, mounts, sockets. */

#include "containers/runtime/runtime.h"

/* "/gpucert-XXXXXX" for ".../run-XXXXXX". Caller frees. */
char *remains_cgroup_parent(const char *directory);

/* Ends containerd, its shims and its containers, unmounts everything below `directory` and removes
 * the directory, the shims' sockets and the control groups. Continues after a failure and returns the
 * first one. Safe to repeat. */
int remains_remove(const char *directory, struct error *err);

/* The part that kills containerd, its shims and ctr, until none is left. Processes are recognised by
 * their command lines, and a reused process id is never hit (pidfd). ERROR_TIMEOUT: one does not end within 10 s
 * (an uninterruptible wait). ERROR_UNSUPPORTED: the kernel has no pidfd_open (before 5.3). */
int remains_kill_containerd(const char *directory, size_t *killed, struct error *err);

/* The part that undoes every mount below `directory` (not at it), the latest first. A mount that is
 * busy is detached. `undone` is counted up; may be NULL. */
int remains_unmount(const char *directory, size_t *undone, struct error *err);

/* Is it the content of /proc/PID/cmdline, NUL-ended words, of containerd, one of its shims or ctr,
 * with a path below `directory` among its arguments? */
bool remains_is_containerd_of(const char *cmdline, size_t size, const char *directory);
