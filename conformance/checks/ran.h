/* SPDX-License-Identifier: MIT */
#pragma once

/* What ran when a probe worked: the files of code that its process had mapped, and the device nodes that
 * it had open, looked at from the host while everything was still open (stage_run_working()). */

#include "base/gpu_apis.h"
#include "conformance/runner/check.h"
#include "containers/grant/grant.h"
#include "containers/inspect/inspect.h"

#include <cjson/cJSON.h>
#include <gpucert/discovery.h>

/* A probe of `api` on a device of the node, in a container with `grant` (CDI edits applied). */
struct ran {
	const struct discovery_device *device;
	const struct gpu_api *api;
	const struct grant *grant;
	const cJSON *document;
	const struct container_view *view; /* pid 0: nothing was seen, and nothing is recorded */
};

/*
 * Adds what ran to the report (environment.devices[].ran), and notes the driver's files that came with
 * the answer. Records as failed: code in a system folder of the container that neither the image nor a
 * mount holds. As unsupported: hardware on which the probe verified its work while none of its device
 * nodes was open; FFmpeg, whose processes have ended by then, and APIs that only enumerate are left out.
 */
void ran_expect(struct check_run *run, const struct ran *ran);
