/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The programs built from this library: their command line (programs.c), and how they use its
 * folders (plugin.c). Suggested reading order, headers first:
 *
 *   plugin.c                       opens the parts, and reacts to changes
 *   inventory/inventory.h          the devices that are offered, and their ids
 *   inventory/scanner.h            how that list is kept up to date
 *   serving/service.h, instance.h  the four calls on one socket; registering, and starting over
 *   answer/calls.h, answer.h       what Allocate and GetPreferredAllocation answer
 *   configuration/config.h         the settings of all of them
 */

#include "reference-plugin/configuration/config.h"

extern const struct config_program program_gpu;	 /* device-plugin-gpu */
extern const struct config_program program_wddm; /* device-plugin-wddm */
extern const struct config_program program_mcdm; /* device-plugin-mcdm */

/* The whole of main(). Exit codes: 0 after a request to stop, 1 after a failure, 2 for an invalid
 * command line, environment or configuration file. */
int program_main(const struct config_program *program, int argc, char **argv);

/*
 * Serves the configured resources until SIGTERM or SIGINT, then ends the streams, removes the
 * sockets and returns 0. A resource is served and registered even while the node has no device for
 * it: an empty list is legal, the node then shows 0 of the resource, and a device that appears
 * later is listed at once.
 *
 * The order at start is: serve, register, discover devices. So the kubelet knows the plugin early,
 * and a driver that is slow to answer delays only its own devices.
 *
 * Temporary problems are logged and retried. Errors are problems that persist until somebody acts:
 * the plugin directory cannot be written, the recorded node cannot be read, a plugin for Windows
 * nodes runs on another system.
 */
int plugin_run(const struct config *config, struct error *err);
