/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_CHECKS_GRANT_H
#define CONFORMANCE_CHECKS_GRANT_H

/*
 * Which devices of the node a container was given, read off what it is given and not off ids, so
 * that it holds for any vendor's plugin. On Linux a device is granted when one of the device nodes
 * that are its own, or, for a device without nodes, one of the files that are its own, is handed to
 * the container; on Windows when a device string names its location path or its class.
 */

#include "conformance/kubelet/container_options.h"

#include <gpucert/discovery.h>

enum { GRANT_DEVICES_MAX = 64 };

struct grant {
	const struct discovery_device *devices[GRANT_DEVICES_MAX];
	size_t count;
};

struct grant grant_read(const struct discovery_snapshot *node,
			const struct kubelet_container_options *options);

/* How many of the granted devices offer the API. */
size_t grant_count(const struct grant *grant, const char *api);

bool grant_device_offers(const struct discovery_device *device, const char *api);

#endif
