/* SPDX-License-Identifier: MIT */
#pragma once

/* The command lines of the project's own plugins (conformance/subject/plugin_process.h), with the
 * devices that a run counts on. */

#include "containers/wine/node.h"
#include "gpucert/discovery.h"

/* The plugin beside this program that offers the devices of such a node: device-plugin-wddm for a
 * Windows node, else device-plugin-gpu. `node_file` NULL: the node is this machine. Caller frees.
 * ERROR_NOT_FOUND: it is not there or cannot be run. */
int plugin_command_reference(const struct discovery_snapshot *node, const char *node_file,
			     char **out, struct error *err);

/* The WDDM plugin under Wine, behind a relay. Caller frees. */
int plugin_command_wine(const struct wine_node *wine, char **out, struct error *err);
