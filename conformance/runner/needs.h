/* SPDX-License-Identifier: MIT */
#pragma once

/* Whether a run offers what a check needs, and what it means when it does not. */

#include "conformance/runner/check.h"
#include "conformance/runner/context.h"

/* Is the node of the operating system that the check is about? */
bool needs_os_is_met(const struct check_needs *needs, const struct context *context);

enum needs_verdict {
	NEEDS_MET,
	NEEDS_NOT_APPLICABLE, /* the check's rule is not about this node */
	NEEDS_API,	      /* no device offers the API: the rule is about those that one does */
	NEEDS_UNSUPPORTED,    /* the rule is about this node, and cannot be tested here */
};

/* *reason is one sentence about the first need that is not met, NULL when all are. Caller frees.
 * ERROR_MEMORY. */
int needs_judge(const struct check_needs *needs, const struct context *context,
		enum needs_verdict *verdict, char **reason, struct error *err);

/* Why a check that runs and passes does not prove its requirement, or NULL. */
const char *needs_unproven(const struct check_needs *needs, const struct context *context);
