/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Where probes run: a container, or the host when the run says so. Failures are recorded on the
 * check, and what a probe said is kept as evidence. Taken down by the check's clean-up.
 */

#include "conformance/runner/check.h"
#include "containers/inspect/inspect.h"
#include "containers/launch/launch.h"

struct stage;

/* `loop` is that of the check's rig; NULL: a loop of its own. NULL: recorded as broken. */
struct stage *stage_open(struct check_run *run, uv_loop_t *loop);

/* One started probe; belongs to the stage. */
struct probe;

/* In a Linux container the probe is held until it is proven to be the image's own (authenticity.h).
 *
 * Starts `command` (NULL-ended, "probe-vulkan" first) with what the container is given; `grant`
 * NULL: nothing. `label` names it in evidence. NULL: recorded. */
struct probe *stage_start(struct stage *stage, const char *label, const char *const *command,
			  const struct grant *grant);

/* What the host sees of its container: taken while the probe was held at its start, after all that
 * the runtime does to a container. NULL: it could not be looked at. */
const struct container_view *probe_view(const struct probe *probe);

/* Waits for its end; records that it exited with 0 and printed a document that belongs
 * to this launch (authenticity.h), which is borrowed. NULL:
 * recorded. */
const cJSON *stage_finish(struct stage *stage, struct probe *probe);

/* stage_start() and stage_finish(). */
const cJSON *stage_run(struct stage *stage, const char *label, const char *const *command,
		       const struct grant *grant);

/* How and when it ran, as the runtime says; it has ended. */
const struct launch_result *probe_result(const struct probe *probe);
