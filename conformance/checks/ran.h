/* SPDX-License-Identifier: MIT */
#pragma once

/* The files of code that a working probe had mapped, and the device nodes that it had open, inspected from
 * the host before it closed them (stage_run_working()). */

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
	const struct container_view *view; /* pid 0: not inspected, and nothing is recorded */
};

/*
 * Adds them to the report (environment.devices[].ran), and notes the driver's files that the answer
 * brought. Failed: code in a system folder of the container that neither the image nor a mount holds.
 * Unsupported: the probe verified work on hardware while none of its device nodes was open; FFmpeg, whose
 * processes have ended by then, and APIs that only enumerate are left out.
 */
void ran_expect(struct check_run *run, const struct ran *ran);
