/* SPDX-License-Identifier: MIT */
#pragma once

/* The program gpu-discovery: snapshots for people, and changes as JSON lines. Text that comes from
 * the node is escaped. */

#include "base/text.h"

#include <gpucert/discovery.h>

/* One line a device; "no devices" when there are none. */
void table_devices(const struct discovery_snapshot *snapshot, bool color, struct text *out);

/* Everything that is known of each device: nodes, files and environment included. */
void table_details(const struct discovery_snapshot *snapshot, bool color, struct text *out);

/* One line a diagnostic. */
void table_diagnostics(const struct discovery_snapshot *snapshot, bool color, struct text *out);

/*
 * Prints the devices of a node, and then every change, as JSON lines on stdout until SIGINT or
 * SIGTERM: {"time":"...","event":"added","device":{...}}, the event being one of added, removed, changed. A
 * node that cannot be read at some moment, as while a file is written, is tried again. ERROR_IO
 * when stdout fails, and everything that the first discovery_take() returns.
 */
int follow_run(const struct discovery_options *options, unsigned poll_ms, struct error *err);
