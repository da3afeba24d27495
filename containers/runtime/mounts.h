/* SPDX-License-Identifier: MIT */
#pragma once

/* Mounts of this mount namespace, read from /proc/self/mountinfo (proc_pid_mountinfo(5)). */

#include "base/error.h"
#include "base/text.h"

#include <stddef.h>

struct mount_entry {
	char *mount_point; /* unescaped */
	char *type;	   /* "overlay", "cgroup", "cgroup2", ... */
};

struct mount_list {
	struct mount_entry *entries; /* in the order of mounting */
	size_t count;
};

#define CLEANUP_MOUNTS __attribute__((cleanup(mounts_free)))
void mounts_free(struct mount_list *mounts);

/* `text` is the content of a mountinfo file. ERROR_FORMAT names the line. */
int mounts_parse(const char *text, struct mount_list *out, struct error *err);
int mounts_read(struct mount_list *out, struct error *err);

/* Undoes every mount below `directory` (not at it), the latest first. A mount that is busy is
 * detached. `undone` is counted up; may be NULL. */
int mounts_undo_below(const char *directory, size_t *undone, struct error *err);
