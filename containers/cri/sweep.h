/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Removing what a run or a check left in a container runtime. Everything that the launcher makes
 * carries two labels, so that nothing else is ever touched, also in a runtime that others use.
 */

#include "containers/cri/cri.h"

#include <stddef.h>

#define CRI_LABEL_RUN	"gpucert.internal/run"
#define CRI_LABEL_CHECK "gpucert.internal/check"

struct cri_swept {
	size_t containers;
	size_t sandboxes;
};

/* Stops and removes every container and every sandbox whose labels name this run and, unless
 * `check_id` is NULL, this check. Goes on after a failure and returns the first one. `swept` counts
 * what was found; may be NULL. `run_id` must not be empty (ERROR_ARGUMENT). */
int cri_sweep(struct cri *cri, const char *run_id, const char *check_id, struct cri_swept *swept,
	      struct error *err);
