/* SPDX-License-Identifier: MIT */
#include "containers/wine/device.h"

#include <strings.h>

const struct wine_device wine_devices[WINE_DEVICE_COUNT] = {
	{
		.location_path = "PCIROOT(0)#PCI(0100)",
		.other_location_path = "ACPI(_SB_)#ACPI(PCI0)#PCI(0100)",
		.luid = 0x1001,
		.vulkan_manifest = "/usr/share/vulkan/icd.d/gpucert-0.json",
		.opencl_manifest = "/etc/OpenCL/vendors/gpucert-0.icd",
	},
	{
		.location_path = "PCIROOT(0)#PCI(0200)",
		.other_location_path = "ACPI(_SB_)#ACPI(PCI0)#PCI(0200)",
		.luid = 0x1002,
		.vulkan_manifest = "/usr/share/vulkan/icd.d/gpucert-1.json",
		.opencl_manifest = "/etc/OpenCL/vendors/gpucert-1.icd",
	},
};

const struct wine_device *wine_device_at(const char *location_path)
{
	for (size_t i = 0; i < WINE_DEVICE_COUNT; i++) {
		if (strcasecmp(wine_devices[i].location_path, location_path) == 0)
			return &wine_devices[i];
	}
	return NULL;
}
