/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The devices of the Wine node. Wine lists one adapter for each Vulkan device of its host, here one
 * for each of the manifests; everything that installing a Windows driver creates (location path,
 * LUID, files to copy into containers) is planted. Such a device stands for the software drivers of
 * the root: lavapipe (Vulkan), llvmpipe (OpenGL, which is what Wine's Direct3D uses), PoCL
 * (OpenCL).
 */

#include "containers/grant/grant.h"
#include "containers/wine/node.h"

#include <stdint.h>

enum { WINE_DEVICE_COUNT = 2 };

struct wine_device {
	const char *location_path;	 /* "PCIROOT(0)#PCI(0100)" */
	const char *other_location_path; /* the same device through ACPI: Windows lists both */
	uint32_t luid;
	/* Manifests have a name for each device, so that two devices in one container are two. */
	const char *vulkan_manifest; /* in the container */
	const char *opencl_manifest;
};

extern const struct wine_device wine_devices[WINE_DEVICE_COUNT];

/* NULL: no device has that location path; case does not matter. */
const struct wine_device *wine_device_at(const char *location_path);

/* Adds the software drivers that `device` stands for, as files for a container: the drivers' files
 * as discovery names them for the root, the manifests under the device's own names, and the closure
 * of the OpenGL driver. Nothing is added twice. ERROR_NOT_FOUND: the root lacks one. */
int wine_drivers_add(const struct wine_node *node, const struct wine_device *device,
		     struct grant *drivers, struct error *err);

/* The driver store folder of the node's driver, below
 * C:\Windows\System32\DriverStore\FileRepository. */
#define WINE_DRIVER_STORE "gpucert_wine.inf_amd64_5f1c0d2e3a4b6978"
#define WINE_DRIVER_INF	  "oem1.inf"

/* One file of the driver: its source in the root, its place in the driver store, and
 * the registry value with its place in a container. */
struct wine_driver_file {
	const char *source;	 /* in the root */
	const char *store_name;	 /* below the driver store folder, with '/' */
	const char *key;	 /* "CopyToVmOverwrite" */
	const char *value;	 /* name of the registry value */
	const char *destination; /* bare name; NULL: a REG_SZ without one */
};

extern const struct wine_driver_file wine_driver_files[];
extern const unsigned wine_driver_file_count;

/* Writes the planted registry values as a .reg file. Wine lists the displays anew whenever it
 * starts and empties the class keys then, so it is imported at each start (wine-run --registry). */
int wine_registry_write(const char *path, struct error *err);
