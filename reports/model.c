/* SPDX-License-Identifier: MIT */
#include "reports/model.h"

#include "base/cleanup.h"
#include "base/text.h"

const char *const report_outcome_names[] = {
	[REPORT_PASS] = "pass",
	[REPORT_FAIL] = "fail",
	[REPORT_UNSUPPORTED] = "unsupported",
	[REPORT_NOT_APPLICABLE] = "not-applicable",
	[REPORT_CRASH] = "crash",
	[REPORT_TIMEOUT] = "timeout",
	[REPORT_BROKEN] = "broken",
	[REPORT_NOTRUN] = "notrun",
	[REPORT_OUTCOME_COUNT] = NULL,
};

const char *const report_disposition_names[] = {
	[REPORT_AS_EXPECTED] = "as-expected",
	[REPORT_EXPECTED_FAIL] = "expected-fail",
	[REPORT_UNEXPECTED_FAIL] = "unexpected-fail",
	[REPORT_UNEXPECTED_IMPROVEMENT] = "unexpected-improvement",
	[REPORT_UNDECIDED] = NULL,
};

const char *const report_level_names[] = {"must", "should", REPORT_LEVEL_MAY, NULL};
const char *const report_kubelet_names[] = {"1.36", "1.37", NULL};
const char *const report_severity_names[] = {"critical", "high", "medium", "low", NULL};
const char *const report_phase_names[] = {"setup", "cri",     "probe", "plugin",
					  "wait",  "cleanup", NULL};
const char *const report_state_names[] = {"complete", "incomplete", "aborted"};
const char *const report_abort_names[] = {"interrupted", "broken", NULL};
const char *const report_requirement_verdict_names[] = {"satisfied", "violated", "not-tested",
							"not-applicable", NULL};
const char *const report_conformance_names[] = {"conformant", "violated", "incomplete", NULL};

enum report_outcome report_outcome_of(const char *name)
{
	return (enum report_outcome)text_position(report_outcome_names, name);
}

enum report_outcome report_outcome_decided(const bool recorded[REPORT_OUTCOME_COUNT])
{
	static const enum report_outcome order[] = {REPORT_BROKEN, REPORT_FAIL, REPORT_UNSUPPORTED,
						    REPORT_NOT_APPLICABLE, REPORT_PASS};
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (recorded[order[i]])
			return order[i];
	}
	return REPORT_BROKEN;
}

bool report_outcome_is_bad(enum report_outcome outcome)
{
	return outcome == REPORT_FAIL || outcome == REPORT_CRASH || outcome == REPORT_TIMEOUT ||
	       outcome == REPORT_BROKEN;
}

/* Higher is worse; -1 is outside the order. */
static int outcome_rank(enum report_outcome outcome)
{
	static const enum report_outcome order[] = {REPORT_PASS, REPORT_FAIL, REPORT_TIMEOUT,
						    REPORT_CRASH};
	int rank = ARRAY_SIZE(order) - 1;
	while (rank >= 0 && order[rank] != outcome)
		rank--;
	return rank;
}

enum report_disposition report_disposition_of(enum report_outcome outcome,
					      enum report_outcome expected)
{
	int rank = outcome_rank(outcome);
	if (outcome == REPORT_NOTRUN)
		return REPORT_UNDECIDED;
	if (outcome == REPORT_BROKEN)
		return REPORT_UNEXPECTED_FAIL;
	if (rank < 0 || (outcome == REPORT_PASS && expected == REPORT_PASS))
		return REPORT_AS_EXPECTED;
	if (outcome == expected)
		return REPORT_EXPECTED_FAIL;
	return rank < outcome_rank(expected) ? REPORT_UNEXPECTED_IMPROVEMENT
					     : REPORT_UNEXPECTED_FAIL;
}

bool report_is_known(const struct report_known *known, const char *reason)
{
	return known->reason == NULL || known->reason[0] == '\0' ||
	       text_glob(known->reason, reason);
}

enum report_disposition report_disposition_known(enum report_outcome outcome, const char *reason,
						 const struct report_known *known)
{
	if (known->may && outcome == REPORT_FAIL)
		return REPORT_EXPECTED_FAIL;
	const bool counts = outcome == REPORT_PASS ? !known->flaky
						   : !report_outcome_is_bad(outcome) ||
							     report_is_known(known, reason);
	return report_disposition_of(outcome, counts ? known->outcome : REPORT_PASS);
}

size_t report_tally_total(const struct report_tally *tally)
{
	size_t total = 0;
	for (size_t i = 0; i < ARRAY_SIZE(tally->outcomes); i++)
		total += tally->outcomes[i];
	return total;
}

size_t report_tally_ran(const struct report_tally *tally)
{
	return report_tally_total(tally) - tally->outcomes[REPORT_UNSUPPORTED] -
	       tally->outcomes[REPORT_NOT_APPLICABLE] - tally->outcomes[REPORT_NOTRUN];
}

enum report_requirement_verdict report_requirement_verdict_of(const struct report_tally *tally)
{
	const size_t *outcomes = tally->outcomes;
	size_t crashed = outcomes[REPORT_CRASH] - tally->cut_off;
	size_t open = outcomes[REPORT_BROKEN] + outcomes[REPORT_NOTRUN] +
		      outcomes[REPORT_UNSUPPORTED] + tally->cut_off + tally->unproven +
		      tally->left_out;
	if (outcomes[REPORT_FAIL] + outcomes[REPORT_TIMEOUT] + crashed != 0)
		return REPORT_VIOLATED;
	if (open != 0)
		return REPORT_NOT_TESTED;
	if (outcomes[REPORT_PASS] != 0)
		return REPORT_SATISFIED;
	return outcomes[REPORT_NOT_APPLICABLE] != 0 ? REPORT_REQUIREMENT_NOT_APPLICABLE
						    : REPORT_NOT_TESTED;
}

enum report_exit report_exit_of(const struct report_facts *facts)
{
	const struct report_tally *tally = facts->tally;
	size_t ran = report_tally_ran(tally);
	size_t min_run = facts->min_run != 0 ? facts->min_run : 1;
	if (facts->broken_abort || (ran != 0 && tally->outcomes[REPORT_BROKEN] == ran))
		return REPORT_EXIT_BROKEN;
	if (facts->state != REPORT_COMPLETE)
		return REPORT_EXIT_INCOMPLETE;
	if (tally->dispositions[REPORT_UNEXPECTED_FAIL] != 0 ||
	    tally->dispositions[REPORT_UNEXPECTED_IMPROVEMENT] != 0)
		return REPORT_EXIT_UNEXPECTED;
	if (tally->outcomes[REPORT_NOTRUN] != 0)
		return REPORT_EXIT_INCOMPLETE;
	if (facts->conformance_required && facts->conformance != REPORT_CONFORMANT)
		return REPORT_EXIT_UNEXPECTED;
	return ran < min_run ? REPORT_EXIT_TOO_FEW : REPORT_EXIT_EXPECTED;
}
