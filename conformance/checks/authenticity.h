/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_CHECKS_AUTHENTICITY_H
#define CONFORMANCE_CHECKS_AUTHENTICITY_H

/* Is the probe that runs in a container the one that was put into its image, on the image's own
 * libraries? Looked at from the host while the probe is held at its start. */

#include "conformance/runner/check.h"
#include "containers/inspect/inspect.h"
#include "containers/launch/launch.h"

/*
 * Waits until the program of a held launch is there, and fills `view` with what the host sees.
 * Records that the program is the image's `probe`, and each file that is not the image's own.
 *
 * False: recorded, and the program must not go on. True with view->pid 0: the program ended before,
 * which launch_wait() tells, or nothing can be seen from here, which is recorded as unsupported.
 */
bool authenticity_expect(struct check_run *run, const char *label, const char *probe,
			 struct launch *launch, struct container_view *view);

#endif
