/* SPDX-License-Identifier: MIT */
#pragma once

/* Expectation files and the checks that there are. */

#include "conformance/runner/plan.h"
#include "reports/expect/expectations.h"

/* Is it a check that no row may name, because the checks that depend on it would not run? */
bool expectations_forbid(const char *check, const struct check_suite *const *suites);
#define EXPECTATIONS_FORBIDDEN "can never be expected to fail: other checks depend on it"

/* Reads files, or by a name without a folder those that are installed (share/gpucert/expectations). Every row
 * must name a check of `suites` on which no other depends, and a revision that it has: ERROR_FORMAT names the row. Two for the same check and environments are an error. Rows that were to be
 * looked at again become lines of `overdue`; after EXPECTATION_GRACE_DAYS they are errors. `today`: "2026-11-22".
 * Errors of expectations_read(). */
int expectations_open(const struct text_list *names, const struct check_suite *const *suites,
		      const char *today, struct expectations *out, struct text_list *overdue,
		      struct error *err);
