/* SPDX-License-Identifier: MIT */
#pragma once

#include "discovery/include/gpucert/discovery.h"

bool filter_admits(const struct discovery_filter *filter, const struct discovery_device *device);

/* Is a device meant by its vendor's name ("AMD"), by its manufacturer as the system says it
 * ("Advanced Micro Devices, Inc."), or by its PCI vendor id ("0x1002" or "1002")? Compared without
 * case, whole, with any dots and commas. */
bool filter_vendor_matches(const char *vendor, const struct discovery_device *device);

/* Is the API ("vulkan") one that the device's files or nodes enable in a container? */
bool filter_offers(const struct discovery_device *device, const char *api);
