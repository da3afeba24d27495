/* SPDX-License-Identifier: MIT */
#pragma once

/* The program gpu-discovery: snapshots for people, and changes as JSON lines. Text that comes from
 * the node is escaped. */

#include "base/text.h"

#include <gpucert/discovery.h>

/* One line a device; "no devices" when there are none. */
void table_devices(const struct discovery_snapshot *snapshot, bool color, struct text *out);

/* Everything that is known about each device, with nodes, files and environment. */
void table_details(const struct discovery_snapshot *snapshot, bool color, struct text *out);

/* One line a diagnostic. */
void table_diagnostics(const struct discovery_snapshot *snapshot, bool color, struct text *out);

/*
 * Prints the devices of a node, and then every change, as JSON lines on stdout until SIGINT or
 * SIGTERM: {"time":"...","event":"added","device":{...}}; events are added, removed and changed. A
 * node that temporarily cannot be read, for example while a file is written, is tried again. ERROR_IO
 * when stdout fails, and the errors of the first discovery_take().
 */
int follow_run(const struct discovery_options *options, unsigned poll_ms, struct error *err);
