/* SPDX-License-Identifier: MIT */
#pragma once

/* The software drivers of the root that a device of the Wine node stands for, as files for a
 * container. */

#include "base/error.h"
#include "containers/grant/grant.h"
#include "containers/wine/device.h"
#include "containers/wine/node.h"

/* Adds what `device` needs: the drivers' files as discovery names them for the root, the manifests
 * under the device's own names, and the closure of the OpenGL driver. Nothing is added
 * twice. ERROR_NOT_FOUND: the root lacks one. */
int wine_drivers_add(const struct wine_node *node, const struct wine_device *device,
		     struct grant *drivers, struct error *err);
