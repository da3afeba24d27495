/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/arena.h"
#include "base/process.h"
#include "base/text.h"
#include "containers/runtime/runtime.h"

/* In the run's directory: references of images that an existing runtime gets from it, one a line.
 */
#define RUNTIME_IMPORTED_FILE "imported"

struct runtime {
	uv_loop_t *loop;
	struct cri *cri;	    /* NULL until it is ready */
	struct process *containerd; /* NULL when attached */
	char *directory;
	struct text_list imported; /* references of images that were not there before */
	struct arena strings;	   /* of the description */
	struct runtime_description description;
};

/* Makes the run's directory; what is to be learnt from the runtime is "" yet. */
int runtime_new(uv_loop_t *loop, const char *base_directory, const char *cri_address,
		struct runtime **out, struct error *err);

/* Connects, takes name and version, and asks whether the runtime is ready. NetworkReady does not
 * matter: sandboxes use the host's network, or fail on Windows with the runtime's own words. */
int runtime_connect(struct runtime *runtime, struct error *err);
