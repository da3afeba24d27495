/* SPDX-License-Identifier: MIT */
#ifndef DISCOVERY_FILTER_H
#define DISCOVERY_FILTER_H

#include "discovery/include/gpucert/discovery.h"

bool filter_admits(const struct discovery_filter *filter, const struct discovery_device *device);

#endif
