/* SPDX-License-Identifier: MIT */
#pragma once

/* The check's own process: runs one body and writes what it records to the result pipe. */

#include "conformance/runner/check.h"
#include "conformance/runner/context.h"

/* Runs `check` with `variant` (NULL without variants). Records go to `result_fd` as JSON lines.
 * `directory` is an existing private folder. Returns when the body and its clean-ups have ended.
 * Errors: ERROR_IO when the result pipe cannot be written, ERROR_MEMORY when a record could not be
 * made: what the check saw is not known whole then. */
int check_run_execute(const struct check *check, const struct check_variant *variant,
		      const struct context *context, const char *directory, int result_fd,
		      struct error *err);
