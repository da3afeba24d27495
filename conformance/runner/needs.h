/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_RUNNER_NEEDS_H
#define CONFORMANCE_RUNNER_NEEDS_H

/* Whether a run offers what a check needs. */

#include "conformance/runner/check.h"
#include "conformance/runner/context.h"

/* Is the node of the operating system that the check is about? */
bool needs_os_is_met(const struct check_needs *needs, const struct context *context);

/* One sentence about the first need that is not met, or NULL when all are met. Caller frees. */
char *needs_missing(const struct check_needs *needs, const struct context *context);

#endif
