/* SPDX-License-Identifier: MIT */
#pragma once

/* The device plugin as a whole: everything but the command line. */

#include "base/error.h"
#include "reference-plugin/configuration/config.h"

/*
 * Serves the configured resources until SIGTERM or SIGINT, then ends the streams, removes the
 * sockets and returns 0. A resource is served and registered also while the node has no device for
 * it: an empty list is legal, the node then shows 0 of it, and a device that appears later is
 * listed at once.
 *
 * The order at start is: serve, register, look for devices. So the kubelet knows the plugin early,
 * and a driver that is slow to answer delays its own devices alone.
 *
 * Problems that may pass are logged and tried
 * again. Errors are those that cannot pass without a change from outside: the plugin directory
 * cannot be written, the recorded node cannot be read, a plugin for Windows nodes has none to
 * look at.
 */
int plugin_run(const struct config *config, struct error *err);
