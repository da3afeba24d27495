/* SPDX-License-Identifier: MIT */
#pragma once

#include "containers/compat/host.h"

extern const char host_os[]; /* "linux", "windows" */

/* What only this system can tell of itself; the rest of `out` is there. The GPUs are the node's devices in
 * the same order. What cannot be asked stays unknown. ERROR_MEMORY. */
int host_system_facts(const struct discovery_options *where, const struct discovery_snapshot *node,
		      struct host_facts *out, struct error *err);
