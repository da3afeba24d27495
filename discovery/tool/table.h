/* SPDX-License-Identifier: MIT */
#pragma once

/* Snapshots for people. Text that comes from the node is escaped. */

#include "base/text.h"

#include <gpucert/discovery.h>

/* One line a device; "no devices" when there are none. */
void table_devices(const struct discovery_snapshot *snapshot, bool color, struct text *out);

/* Everything that is known of each device: nodes, files and environment included. */
void table_details(const struct discovery_snapshot *snapshot, bool color, struct text *out);

/* One line a diagnostic. */
void table_diagnostics(const struct discovery_snapshot *snapshot, bool color, struct text *out);
