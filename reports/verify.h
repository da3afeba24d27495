/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Is what lies beside a report what its run stored? The journal's records are chained
 * (reports/journal_read.h) and hold the digest of every piece of evidence; here the files are
 * compared with them.
 */

#include "base/json.h"
#include "base/text.h"

/* Adds a line to `faults` for each piece of evidence of the report that is missing below
 * `directory` or is not what the report says. Paths that lead out of the directory are faults. An
 * error is that of the comparison itself: ERROR_MEMORY, ERROR_FORMAT (no report). */
int verify_evidence(const char *directory, const cJSON *report, struct text_list *faults,
		    struct error *err);
