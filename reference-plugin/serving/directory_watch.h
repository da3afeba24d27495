/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reports that the entries of a directory may have changed: by file system events, gathered for
 * DIRECTORY_WATCH_SETTLE_MS, and every DIRECTORY_WATCH_POLL_MS in any case, because events get lost.
 * Without events (no such directory, no inotify watch left) it polls every DIRECTORY_WATCH_UNWATCHED_MS.
 * The callback reads the directory.
 */

#include "base/error.h"

#include <uv.h>

enum {
	DIRECTORY_WATCH_SETTLE_MS = 50,
	DIRECTORY_WATCH_UNWATCHED_MS = 250,
	DIRECTORY_WATCH_POLL_MS = 5000,
};

struct directory_watch;

/* `path` is copied. Polls while events are not available (no such directory yet). ERROR_MEMORY. */
int directory_watch_open(uv_loop_t *loop, const char *path, void (*on_change)(void *user),
			 void *user, struct directory_watch **out, struct error *err);

/* The memory is freed when libuv has closed its handles. NULL is allowed. */
void directory_watch_close(struct directory_watch *watch);
