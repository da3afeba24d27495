/* SPDX-License-Identifier: MIT */
#pragma once

/* The software drivers of the root that a device of the Wine node stands for, as files for a
 * container. */

#include "base/error.h"
#include "containers/wine/device.h"
#include "containers/wine/node.h"

#include <stddef.h>

struct wine_driver_mount {
	char *source;	   /* on the host */
	char *destination; /* in the container, a Linux path */
};

struct wine_drivers {
	struct wine_driver_mount *mounts; /* no destination twice */
	size_t count, capacity;
	struct text_list environment; /* NAME=value; no name twice */
};

#define CLEANUP_WINE_DRIVERS __attribute__((cleanup(wine_drivers_free)))

/* Adds what `device` needs: the drivers' files as discovery names them for the root, the manifests
 * under the device's own names, and the closure of the OpenGL driver. ERROR_NOT_FOUND: the root
 * lacks one. */
int wine_drivers_add(const struct wine_node *node, const struct wine_device *device,
		     struct wine_drivers *drivers, struct error *err);
void wine_drivers_free(struct wine_drivers *drivers);
