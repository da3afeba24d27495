/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The checks: suites of rows, and what their bodies are built on.
 *
 *   rig.h           the plugin under test on a fake kubelet
 *   stage.h         where probes run, and what they are proven to be (authenticity.h)
 *   offer.h         what an id hands out, and a container with it (granted.h)
 *   visibility.h    what a container saw
 *   isolation.h     looks into containers, and probes that use devices one after the other or side
 *                   by side
 *   prediction.h    what the rules of images say of a launch, beside what happened
 *   tally.h         one verdict about many things
 */

#include "conformance/runner/check.h"

/* A row: id, requirement, severity, revision and body, then the other members of struct check. */
#define CHECK(name, rule, weight, meaning, body, ...)                                              \
	{                                                                                          \
		.id = (name), .requirement = CHECK_##rule, .severity = CHECK_##weight,             \
		.revision = (meaning), .run = (body), __VA_ARGS__                                  \
	}

/* Every suite of a normal run, in the order in which they run; NULL-ended. */
extern const struct check_suite *const suites[];

extern const struct check environment_checks[], registration_checks[], list_and_watch_checks[],
	allocate_checks[], windows_checks[], restart_checks[], api_checks[], isolation_checks[],
	image_checks[];

/* Bodies that stand in a file of their own (list_devices.c, isolation_*.c). */
check_body list_devices_present, isolation_node_files, isolation_every_container;
check_body isolation_residue, isolation_faults, isolation_contention, isolation_lifetime,
	isolation_device_memory;

/* api.c: does the device offer this API, or this part of DirectX? */
struct discovery_device;
struct gpu_api;
bool api_is_offered(const struct discovery_device *device, const struct gpu_api *api);
