/* SPDX-License-Identifier: MIT */
#pragma once

/* The command lines of the project's own plugins (conformance/subject/plugin_process.h), with options
 * that make them offer every device of the run. */

#include "containers/wine/node.h"
#include "gpucert/discovery.h"

/* The installed plugin for such a node: device-plugin-wddm for a Windows node, else
 * device-plugin-gpu. `node_file` NULL: the node is this machine. Caller frees. ERROR_NOT_FOUND: it
 * is not installed or cannot be run. */
int plugin_command_reference(const struct discovery_snapshot *node, const char *node_file,
			     char **out, struct error *err);

/* The WDDM plugin under Wine, started through a relay. Caller frees. */
int plugin_command_wine(const struct wine_node *wine, char **out, struct error *err);
