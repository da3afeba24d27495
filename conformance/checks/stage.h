/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Probes run in a container, or on the host when the run says so. Failures are recorded on the check, and
 * the output of probes is kept as evidence. The check's clean-up closes the stage.
 */

#include "conformance/runner/check.h"
#include "containers/inspect/inspect.h"
#include "containers/launch/launch.h"

struct stage;

/* `loop`: the rig's; NULL: a loop of its own. `handler`: the index of a runtime handler of the run (context.h). Returns NULL:
 * recorded as broken. */
struct stage *stage_open(struct check_run *run, uv_loop_t *loop, size_t handler);

/*
 * A launch that cannot work by the rules of images (prediction.h) is not made, unless the run says so: the
 * check is unsupported, or fails where a device claims the API that it needs, or where it is the check
 * that containers work. The prediction for each launch is recorded with its outcome.
 */

/* One started probe; belongs to the stage. */
struct probe;

/* In a Linux container the probe is held until it is proven to be the image's own (authenticity.h).
 *
 * Starts `command` (NULL-ended, "probe-vulkan" first) in a container with `grant`, NULL: without devices.
 * `label` names it in evidence. NULL: recorded. */
struct probe *stage_start(struct stage *stage, const char *label, const char *const *command,
			  const struct grant *grant);

/* The same, with device nodes made in the container for the probe to try (container_plant_nodes()). */
struct probe *stage_start_planted(struct stage *stage, const char *label,
				  const char *const *command, const struct grant *grant);

/* The same with probe-visibility, which opens `node` of the container, a path that it knows. The
 * prediction is about that; the launch is made in any case. */
struct probe *stage_start_opening(struct stage *stage, const char *label, const char *node,
				  const struct grant *grant);

/* The host's inspection of its container while the probe was held at its start, after all work of the
 * runtime on it. NULL: it was not inspected. */
const struct container_view *probe_view(const struct probe *probe);

/* Waits for its end; records that it exited with 0 and printed a document that belongs to this launch
 * (authenticity.h), which is borrowed. NULL: recorded. */
const cJSON *stage_finish(struct stage *stage, struct probe *probe);

/* stage_start() without a grant, and stage_finish(). */
const cJSON *stage_run(struct stage *stage, const char *label, const char *const *command);

/* Both for a command that works on a device. In a Linux container the probe is held again after its
 * work, and `view` gets the files that its process has mapped and open (container_inspect_working()).
 * pid 0: it was not inspected. Free it with container_view_free(). */
const cJSON *stage_run_working(struct stage *stage, const char *label, const char *const *command,
			       const struct grant *grant, struct container_view *view);

/* Are probes held, and their containers inspected? In Linux containers with the run's own probes they are. */
bool stage_holds_probes(const struct stage *stage);

/* The same; false: recorded as unsupported. */
bool stage_can_pause(struct stage *stage);

/* For a command with "--pause", LAUNCH_PAUSE_PATH: waits until the probe is in the middle of its work,
 * with its memory on the device. False: it ended earlier, as stage_end() reports, or recorded. */
bool stage_wait_paused(struct stage *stage, struct probe *probe);
void stage_resume(struct stage *stage, struct probe *probe);

/* The end of a probe that may end in any way: waits for it, or with `kill` ends it (SIGKILL). *document
 * (borrowed): the document that it printed; NULL: none. NULL: recorded. */
const struct launch_result *stage_end(struct stage *stage, struct probe *probe, bool kill,
				      const cJSON **document);

/* How and when an ended probe ran, by the runtime's report. */
const struct launch_result *probe_result(const struct probe *probe);
