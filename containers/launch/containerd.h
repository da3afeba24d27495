/* SPDX-License-Identifier: MIT */
#pragma once

/* The launcher that makes containers. Internal to launch/. */

#include "base/arena.h"
#include "containers/launch/launcher.h"

enum { CONTAINERD_UID_SIZE = 17 };

struct containerd_launcher {
	struct launcher base;
	struct cri *cri;
	struct arena strings; /* owns the following, which may be "" but not NULL */
	const char *image, *log_directory, *cgroup_parent, *run_id, *check_id, *runtime_handler;
	const char *runtime; /* "containerd 1.6.20" */
	bool applies_cdi;
	bool applies_devices; /* to Windows containers */
	bool seccomp;	      /* ask for the default filter */
};

struct containerd_launch {
	struct launch base;
	char uid[CONTAINERD_UID_SIZE]; /* unique in the runtime */
	const char *program;	       /* the command's first word, as a path in the container */
	const char *log_directory;     /* of this launch; NULL: none was made */
	char *sandbox_id;	       /* NULL: none was made */
	uint64_t deadline_ms;
	const char *gates[LAUNCH_GATES]; /* FIFOs, the host's ends; NULL: the program is not held */
	size_t gate;			 /* the next one */
	int hold_fd;			 /* its writing end, once the program reads; -1 */
	uint64_t poll_ms;		 /* duration of the last containerd_poll() */
	bool started;			 /* so there may be output */
};

extern const char *const containerd_gate_paths[LAUNCH_GATES]; /* in the container */

#define POD_LOG_FILE "0.log" /* of the container, below the log directory */

int containerd_finish(struct launch *launch, bool stop, struct error *err);

struct cri *containerd_cri(const struct launch *launch);

/* Runs the loop for a little longer each time, up to 16 ms or four times what the last
 * poll took: no event announces what the caller waits for. */
void containerd_pause(const struct launch *launch, uint64_t *pause_ms);

/* Asks the runtime once whether the program has ended; it has when the runtime is gone, too. */
void containerd_poll(struct containerd_launch *launch, bool *ended);

void containerd_close_hold(struct containerd_launch *launch);
