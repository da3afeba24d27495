/* SPDX-License-Identifier: MIT */
#pragma once

#include "discovery/include/gpucert/discovery.h"

bool filter_admits(const struct discovery_filter *filter, const struct discovery_device *device);
