/* SPDX-License-Identifier: MIT */
#pragma once

/* Snapshots written down in C: what discovery would have said. */

#include <gpucert/discovery.h>

/* A healthy display device without anything to give; the test changes members. */
static inline struct discovery_device sample_device(const char *id)
{
	static const char *const none[] = {NULL};
	return (struct discovery_device){
		.id = id,
		.kind = DISCOVERY_DISPLAY,
		.vendor = "Example",
		.manufacturer = "",
		.description = "",
		.pci_address = "",
		.location_path = "",
		.pnp_instance_id = "",
		.driver_name = "",
		.driver_version = "",
		.driver_key = "",
		.driver_store_path = "",
		.allocatable = true,
		.not_allocatable_reason = "",
		.display = true,
		.numa_node = DISCOVERY_UNKNOWN,
		.health_reason = "",
		.location_paths = none,
		.attributes = none,
		.apis = none,
	};
}

static inline struct discovery_snapshot sample_snapshot(const struct discovery_device *devices,
							size_t count)
{
	return (struct discovery_snapshot){
		.system = {"linux", "", "", "", "", ""},
		.devices = devices,
		.device_count = count,
	};
}
