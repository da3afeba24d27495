/* SPDX-License-Identifier: MIT */
#pragma once

/* Expectation files, validated against the checks. */

#include "conformance/runner/plan.h"
#include "reports/expect/expectations.h"

/* Must rows not name this check? Checks that depend on it would not run. */
bool expectations_forbid(const char *check, const struct check_suite *const *suites);
#define EXPECTATIONS_FORBIDDEN "can never be expected to fail: other checks depend on it"

/* Reads files; a name without a folder is also looked for among the installed files
 * (share/gpucert/expectations). Every row must name a check of `suites` on which no other depends,
 * and its revision: ERROR_FORMAT names the row. Two rows for the same check and environments are an
 * error. Rows that are due for review become lines of `overdue`, and errors after
 * EXPECTATION_GRACE_DAYS. `today`: "2026-11-22". Errors of expectations_read(). */
int expectations_open(const struct text_list *names, const struct check_suite *const *suites,
		      const char *today, struct expectations *out, struct text_list *overdue,
		      struct error *err);
