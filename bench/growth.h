/* SPDX-License-Identifier: MIT */
#pragma once

/* How the checks' own time, in which nobody waits for the plugin, grows with what a plugin sends:
 * ten times as much takes about ten times as long. */

#include "base/error.h"
#include "bench/table.h"

int growth_measure(struct table *table, struct error *err);
