/* SPDX-License-Identifier: MIT */
#pragma once

/* The resources of the node that the plugin's process uses, and whether they grow. Linux only. */

#include "conformance/checks/rig.h"

enum { RIG_IDLE_OUTPUT = 20000 }; /* bytes of log in a second: gigabytes within a day */

/* The process that serves the plugin's socket: a shell may have started it. 0: unknown. */
int rig_process(const struct rig *rig);

/* How many files and folders the plugin left where the system's libraries put temporary ones (TMPDIR): a folder of the check's.
 * 0 for an attached plugin. */
long long rig_temporary_files(const struct rig *rig);

/* The files and folders in a folder; 0 if it cannot be read. */
long long rig_count_files(const char *folder);

struct rig_footprint {
	long long descriptors, threads, files; /* files: rig_temporary_files() */
	long long resident_kib, virtual_kib;   /* the most so far */
};

/* Of the process that serves the plugin's socket, or else of the one that was started. False: unknown, and
 * the descriptors are -1. */
bool rig_footprint(const struct rig *rig, struct rig_footprint *out);

/* Waits for up to `ms`, scaled, until the plugin uses no more descriptors and threads than `most`; fills what it uses at the
 * end. False: unknown. */
bool rig_wait_footprint(struct rig *rig, const struct rig_footprint *most, uint64_t ms,
			struct rig_footprint *now);

/* Expects that since `before` the plugin opened no more than a few descriptors and `threads` threads;
 * waits for those that it still closes. An unknown `before` is only noted. */
void rig_expect_footprint(struct rig *rig, const struct rig_footprint *before, long long threads);

/* Waits until the plugin has done its work, if it comes to an end, watches it for so long, as rig_watch(), and
 * records whether in a part of that time, named `during`, it was idle and printed next to nothing. One that has ended is idle. */
void rig_expect_idle(struct rig *rig, uint64_t ms, uint64_t thorough_ms, const char *during);

/* The limit in percent of a processor, higher in a run that is scaled up: there pauses are as long as elsewhere, but
 * the work between them takes longer. A plugin that never pauses exceeds it anywhere. */
long long rig_idle_percent(const struct rig *rig, long long percent);
