/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The devices of the Wine node. Wine lists one adapter for each Vulkan device of its host, here one
 * for each manifest that it is given; what a Windows driver's installation would leave behind
 * (location path, LUID, files to copy into containers) is planted. Such a device stands for the
 * software drivers of the root: lavapipe (Vulkan), llvmpipe (OpenGL, which is what Wine's Direct3D
 * uses), PoCL (OpenCL).
 */

#include <stddef.h>
#include <stdint.h>

enum { WINE_DEVICE_COUNT = 2 };

struct wine_device {
	const char *location_path;	 /* "PCIROOT(0)#PCI(0100)" */
	const char *other_location_path; /* the one through ACPI, as Windows lists a second one */
	uint32_t luid;
	/* Manifests have a name for each device, so that two devices in one container are two. */
	const char *vulkan_manifest; /* in the container */
	const char *opencl_manifest;
};

extern const struct wine_device wine_devices[WINE_DEVICE_COUNT];

/* NULL: none has that location path; case does not matter. */
const struct wine_device *wine_device_at(const char *location_path);
