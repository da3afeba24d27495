/* SPDX-License-Identifier: MIT */
#ifndef CONTAINERS_LAUNCH_CONTAINERD_H
#define CONTAINERS_LAUNCH_CONTAINERD_H

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
	bool has_container; /* base.result.container_id was created */
};

int containerd_launch_start(struct launcher *launcher, struct launch *launch,
			    const struct launch_spec *spec, struct error *err);
int containerd_launch_finish(struct launch *launch, bool stop, struct error *err);

#endif
