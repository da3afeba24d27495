/* SPDX-License-Identifier: MIT */
#pragma once

#include "discovery/include/gpucert/discovery.h"

bool filter_admits(const struct discovery_filter *filter, const struct discovery_device *device);

/* Does `vendor` name the device's vendor ("AMD"), its manufacturer as the system reports it ("Advanced
 * Micro Devices, Inc."), or its PCI vendor id ("0x1002" or "1002")? Whole strings are compared, without
 * case. */
bool filter_vendor_matches(const char *vendor, const struct discovery_device *device);

/* Is the API ("vulkan") one that the device's files or nodes enable in a container? */
bool filter_offers(const struct discovery_device *device, const char *api);
