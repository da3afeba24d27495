/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Plants in the device tree, the registry and the driver store what the installation of a driver
 * leaves there. Only under Wine, in a prefix that is thrown away.
 */

#include "discovery/include/gpucert/discovery.h"

#include <stdint.h>
#include <windows.h>

#include <devpropdef.h>

/* False with a message: this is a real Windows, which is left alone. */
bool plant_is_allowed(void);

/* A device of the recorded node with its properties, driver key, driver folder and the CopyToVm
 * values that name its files. 0 or -1, with a message. */
int plant_device(const struct discovery_device *device);

/* One property of a planted device more, or another value of it. 0 or -1, with a message. */
extern const DEVPROPKEY plant_luid, plant_location_paths;
int plant_property(const char *instance_id, const DEVPROPKEY *key, DEVPROPTYPE type,
		   const void *data, DWORD size);

/* One value below a device's driver key; `key` is "CopyToVmOverwrite", "" for the driver key. */
int plant_value(const struct discovery_device *device, const char *key, const WCHAR *name,
		DWORD type, const void *data, DWORD size);

/* Takes the device and its driver key away. */
void plant_remove(const struct discovery_device *device);
