/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The checks: suites of rows, and the foundations of their bodies.
 *
 *   rig.h           the plugin under test on a fake kubelet
 *   stage.h         containers for probes, and the proof that they are genuine (authenticity.h)
 *   offer.h         the devices that an id hands out, and a container with it (granted.h)
 *   visibility.h    the devices that a container saw
 *   isolation.h     inspected containers, and probes that share devices in turn or at the same time
 *   prediction.h    the prediction for a launch by the rules of images, and its outcome
 *   tally.h         one verdict about many items
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
	health_checks[], allocate_checks[], preferred_allocation_checks[], pre_start_checks[],
	windows_checks[], restart_checks[], protocol_checks[], sharing_checks[], security_checks[],
	load_checks[], api_checks[], isolation_checks[], image_checks[];

/* Bodies in files of their own (list_devices.c, isolation_*.c). */
check_body list_devices_present, isolation_node_files, isolation_every_container;
check_body security_ports;
check_body isolation_residue, isolation_faults, isolation_contention, isolation_lifetime,
	isolation_plugin_restart, isolation_device_memory;

/* api.c: does the device offer this API, or this part of DirectX? */
struct discovery_device;
struct gpu_api;
bool api_is_offered(const struct discovery_device *device, const struct gpu_api *api);
/* The same; and a probe computes through it. */
bool api_computes(const struct discovery_device *device, const struct gpu_api *api);
