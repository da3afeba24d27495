/* SPDX-License-Identifier: MIT */
#pragma once

/* Is the probe that runs in a container the one that was put into its image, on the image's own
 * libraries? Looked at from the host while the probe is held at its start. */

#include "conformance/runner/check.h"
#include "containers/grant/grant.h"
#include "containers/inspect/inspect.h"

/*
 * Fills `view` with what the host sees of the container whose first process, a held probe, is
 * `pid`, the launch of `grant`. Records that its program is the image's `probe`, and each variable,
 * file and mount that changes what it is.
 *
 * False: recorded, and the program must not go on. True with view->pid 0: it ended meanwhile, or
 * nothing can be seen from here, which is recorded as unsupported.
 */
bool authenticity_expect(struct check_run *run, const char *label, const char *probe,
			 const struct grant *grant, int64_t pid, struct container_view *view);
