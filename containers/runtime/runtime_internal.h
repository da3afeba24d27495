/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/process.h"
#include "base/text.h"
#include "containers/runtime/containerd.h"
#include "containers/runtime/runtime.h"

/* In the run's directory: references of images that an existing runtime gets from it, one a line.
 */
#define RUNTIME_IMPORTED_FILE "imported"

struct runtime {
	uv_loop_t *loop;
	struct cri *cri;	    /* NULL until it is ready */
	struct process *containerd; /* NULL when attached */
	struct containerd_version containerd_version;
	char *directory;
	char *work_directory;
	char *address;
	char *cgroup_parent;
	char *name, *version, *api_version;
	char *snapshotter, *snapshotter_reason;
	struct text_list imported; /* references of images that were not there before */
	struct runtime_description description; /* points into the above */
};

/* Connects, takes name and version, and asks whether the runtime is ready. NetworkReady does not
 * matter: sandboxes use the host's network, or fail on Windows with the runtime's own words. */
int runtime_connect(struct runtime *runtime, struct error *err);

/* Removes what carries this run's label, and from a runtime that stays the imported images. */
int runtime_disconnect(struct runtime *runtime, struct error *err);
void runtime_free(struct runtime *runtime);
