/* SPDX-License-Identifier: MIT */
#pragma once

/* What a private containerd leaves on the machine, and undoing it without the help of that
 * containerd. */

#include "containers/runtime/runtime.h"

/* Names that follow from a run's directory; caller frees. NULL: out of memory. */
char *remains_cgroup_parent(const char *directory); /* "/gpucert-XXXXXX" for ".../run-XXXXXX" */

/* Ends containerd, its shims and its containers, unmounts everything below `directory` and removes
 * the directory, the shims' sockets and the control groups. Goes on after a failure and returns the
 * first one. `counts` is counted up. Safe to repeat. */
int remains_remove(const char *directory, struct runtime_recovered *counts, struct error *err);
