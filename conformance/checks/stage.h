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

/* The same on another one of the run's runtime handlers (context.h) than the first. */
struct stage *stage_open_handler(struct check_run *run, uv_loop_t *loop, size_t handler);

/*
 * A launch that cannot work by the rules of images (prediction.h) is not made, unless the run says so: the
 * check is unsupported, or fails where a device claims the API that it needs, or where it is the check
 * that containers work. What was predicted of each launch is recorded beside how it ended.
 */

/* One started probe; belongs to the stage. */
struct probe;

/* In a Linux container the probe is held until it is proven to be the image's own (authenticity.h).
 *
 * Starts `command` (NULL-ended, "probe-vulkan" first) with what the container is given; `grant`
 * NULL: nothing. `label` names it in evidence. NULL: recorded. */
struct probe *stage_start(struct stage *stage, const char *label, const char *const *command,
			  const struct grant *grant);

/* The same, of a container that gets nodes to try before it goes on (container_plant_nodes()). */
struct probe *stage_start_planted(struct stage *stage, const char *label,
				  const char *const *command, const struct grant *grant);

/* The same with probe-visibility, which opens `node` of the container, a path that it knows: whether it
 * can is what is predicted, and nothing keeps the launch from being made. */
struct probe *stage_start_opening(struct stage *stage, const char *label, const char *node,
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

/* The same of a command that works on a device. In a Linux container the probe is held once more after
 * its work, and `view` filled with what its process then has mapped and open
 * (container_inspect_working()). pid 0: it was not looked at. Free it with container_view_free(). */
const cJSON *stage_run_working(struct stage *stage, const char *label, const char *const *command,
			       const struct grant *grant, struct container_view *view);

/* Can a probe be held in the midst of its work? In a Linux container. A check that needs it and does
 * not have it is unsupported, which is recorded. */
bool stage_can_pause(struct stage *stage);

/* For a command with "--pause", LAUNCH_PAUSE_PATH: waits until the probe is in the midst of its work,
 * with its memory on the device. False: it ended before, which stage_end() tells, or recorded. */
bool stage_wait_paused(struct stage *stage, struct probe *probe);
void stage_resume(struct stage *stage, struct probe *probe);

/* The end of a probe of which nothing is expected: waits for it, or with `kill` ends it (SIGKILL).
 * *document (borrowed): what it said in the end; NULL for nothing. NULL: recorded. */
const struct launch_result *stage_end(struct stage *stage, struct probe *probe, bool kill,
				      const cJSON **document);

/* How and when it ran, as the runtime says; it has ended. */
const struct launch_result *probe_result(const struct probe *probe);
