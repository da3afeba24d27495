/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Claims (reports/schema/claims.schema.json): the list of checks that a vendor did not run, each with its reason. With it a
 * run in which no MUST is violated and some were not tested may be called certified. A failure is never claimed away.
 */

#include "base/arena.h"
#include "reports/certificates/faults.h"
#include "reports/journal_read.h"

enum { CLAIMS_MAX = 1024 };

struct claim {
	const char *check, *requirement; /* an id; the other one is "" */
	const char *justification, *link;
	const char *review_by; /* "2027-05-22" */
};

struct claims {
	struct arena arena;
	struct claim *items;
	size_t count;
};

/* ERROR_FORMAT names the member; a check on which all others depend (expectation_is_sentinel()) cannot be claimed.
 * Free with claims_free(), also after an error. */
int claims_parse(const char *data, size_t size, struct claims *out, struct error *err);

/*
 * Makes a fault ("not-certified") of each reason why the run may not be called certified; none when it may: it is
 * complete, on a live node, no MUST is violated, at least one is satisfied, and every other one is not applicable, or
 * each of its checks that was unsupported, not run or left out is claimed, by its own id or by that of the requirement.
 * Broken checks, crashes and passes that prove nothing cannot be claimed. A claim that names nothing of the run, or
 * something that was tested, or whose review is overdue, is also a reason, and so is a run that ended later than today:
 * one of the clocks is wrong.
 *
 * `log` is the report's journal, which records what filters left out. `today`: "2026-11-22...".
 */
void claims_judge(const struct claims *claims, const cJSON *report, const struct journal_log *log,
		  const char *today, struct faults *faults);
void claims_free(struct claims *claims);
