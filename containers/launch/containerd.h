/* SPDX-License-Identifier: MIT */
#pragma once

/* The launcher that makes containers. Internal to launch/. */

#include "containers/launch/launcher.h"

struct containerd_launcher {
	struct launcher base;
	struct cri *cri;
	char *image;
	char *log_directory;
	char *cgroup_parent;
	char *run_id;
	char *check_id;
	char *runtime_handler;
	char *runtime; /* "containerd 1.6.20" */
	bool applies_cdi;
	bool applies_devices; /* to Windows containers */
	bool seccomp;
};

struct containerd_launch {
	struct launch base;
	char *sandbox_id;    /* NULL: none was made */
	char *log_directory; /* of this launch; NULL: none was made */
	uint64_t deadline_ms;
	char *hold_fifo;    /* the host's end; NULL: the program is not held */
	int hold_fd;	    /* its writing end, once the program reads; -1 */
	bool has_container; /* base.result.container_id was created */
};

int containerd_launch_start(struct launcher *launcher, struct launch *launch,
			    const struct launch_spec *spec, struct error *err);
/* hold.c, whose Windows stands aside: ERROR_UNSUPPORTED. */
int containerd_make_hold(struct containerd_launch *launch, struct error *err);
int containerd_wait_held(struct launch *launch, int64_t *pid, struct error *err);
int containerd_release(struct launch *launch, const char *line, struct error *err);
void containerd_close_hold(struct containerd_launch *launch);

/* Asks the runtime once whether the program has ended; it has when the runtime is gone, too. */
int containerd_look(struct containerd_launch *launch, bool *ended, struct error *err);
int containerd_launch_finish(struct launch *launch, bool stop, struct error *err);
