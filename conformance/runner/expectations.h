/* SPDX-License-Identifier: MIT */
#pragma once

/* Expectation files and the checks that there are. */

#include "conformance/runner/plan.h"
#include "reports/expect/expectations.h"

/* Reads files, or by a name without a folder those that are installed (share/gpucert/expectations). Every row
 * must name a check of `suites` and a revision that it has: ERROR_FORMAT names the row. Two for the same check and environments are an error. Rows that were to be
 * looked at again become lines of `overdue`; after EXPECTATION_GRACE_DAYS they are errors. `today`: "2026-11-22".
 * Errors of expectations_read(). */
int expectations_open(const struct text_list *names, const struct check_suite *const *suites,
		      const char *today, struct expectations *out, struct text_list *overdue,
		      struct error *err);
