/* SPDX-License-Identifier: MIT */
#pragma once

#include "containers/judging/compat/host.h"

extern const char host_os[]; /* "linux", "windows" */

/* Adds the facts that only this system itself has; the others are already set. The GPUs of `out` are the
 * node's devices in the same order. Unavailable facts stay unknown. */
void host_system_facts(const struct discovery_options *where, const struct discovery_snapshot *node,
		       struct host_facts *out);
