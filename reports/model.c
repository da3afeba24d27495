/* SPDX-License-Identifier: MIT */
#include "reports/model.h"

#include "base/cleanup.h"

#include <string.h>

static const char *const outcome_names[REPORT_OUTCOME_COUNT] = {
	[REPORT_PASS] = "pass",
	[REPORT_FAIL] = "fail",
	[REPORT_UNSUPPORTED] = "unsupported",
	[REPORT_NOT_APPLICABLE] = "not-applicable",
	[REPORT_SKIP] = "skip",
	[REPORT_CRASH] = "crash",
	[REPORT_TIMEOUT] = "timeout",
	[REPORT_BROKEN] = "broken",
	[REPORT_NOTRUN] = "notrun",
};

static const char *const disposition_names[REPORT_DISPOSITION_COUNT] = {
	[REPORT_AS_EXPECTED] = "as-expected",
	[REPORT_EXPECTED_FAIL] = "expected-fail",
	[REPORT_UNEXPECTED_FAIL] = "unexpected-fail",
	[REPORT_UNEXPECTED_IMPROVEMENT] = "unexpected-improvement",
	[REPORT_FLAKY] = "flaky",
};

static const char *const phase_names[REPORT_PHASE_COUNT] = {
	[REPORT_PHASE_SETUP] = "setup", [REPORT_PHASE_CRI] = "cri",
	[REPORT_PHASE_PROBE] = "probe", [REPORT_PHASE_PLUGIN] = "plugin",
	[REPORT_PHASE_WAIT] = "wait",	[REPORT_PHASE_CLEANUP] = "cleanup",
};

static const char *const abort_names[REPORT_ABORT_COUNT] = {
	[REPORT_ABORT_INTERRUPTED] = "interrupted",
	[REPORT_ABORT_BROKEN] = "broken",
};

/* The index of `name`, or `count`. */
static size_t model_index(const char *const *names, size_t count, const char *name)
{
	size_t i = 0;

	while (i < count && strcmp(names[i], name) != 0)
		i++;
	return i;
}

const char *report_outcome_name(enum report_outcome outcome)
{
	return outcome_names[outcome];
}

int report_outcome_parse(const char *name, enum report_outcome *out, struct error *err)
{
	size_t index = model_index(outcome_names, REPORT_OUTCOME_COUNT, name);

	if (index == REPORT_OUTCOME_COUNT)
		return error_set(err, ERROR_FORMAT, "'%s' is no outcome", name);
	*out = (enum report_outcome)index;
	return 0;
}

bool report_outcome_is_bad(enum report_outcome outcome)
{
	return outcome == REPORT_FAIL || outcome == REPORT_CRASH || outcome == REPORT_TIMEOUT ||
	       outcome == REPORT_BROKEN;
}

const char *report_disposition_name(enum report_disposition disposition)
{
	return disposition < REPORT_DISPOSITION_COUNT ? disposition_names[disposition] : NULL;
}

/* Higher is worse; -1 is outside the order. */
static int outcome_rank(enum report_outcome outcome)
{
	static const int ranks[REPORT_OUTCOME_COUNT] = {
		[REPORT_PASS] = 0,	   [REPORT_FAIL] = 1,	 [REPORT_TIMEOUT] = 2,
		[REPORT_CRASH] = 3,	   [REPORT_SKIP] = -1,	 [REPORT_NOT_APPLICABLE] = -1,
		[REPORT_UNSUPPORTED] = -1, [REPORT_BROKEN] = -1, [REPORT_NOTRUN] = -1,
	};

	return ranks[outcome];
}

enum report_disposition report_disposition_of(enum report_outcome outcome,
					      const enum report_outcome *expected, bool flaky)
{
	if (outcome == REPORT_NOTRUN)
		return REPORT_UNDECIDED;
	if (outcome == REPORT_BROKEN)
		return REPORT_UNEXPECTED_FAIL;
	if (flaky)
		return REPORT_FLAKY;
	if (outcome_rank(outcome) < 0)
		return REPORT_AS_EXPECTED;
	if (expected == NULL || *expected == REPORT_PASS)
		return outcome == REPORT_PASS ? REPORT_AS_EXPECTED : REPORT_UNEXPECTED_FAIL;
	if (outcome == *expected)
		return REPORT_EXPECTED_FAIL;
	return outcome_rank(outcome) < outcome_rank(*expected) ? REPORT_UNEXPECTED_IMPROVEMENT
							       : REPORT_UNEXPECTED_FAIL;
}

const char *report_phase_name(enum report_phase phase)
{
	return phase_names[phase];
}

int report_phase_parse(const char *name, enum report_phase *out, struct error *err)
{
	size_t index = model_index(phase_names, REPORT_PHASE_COUNT, name);

	if (index == REPORT_PHASE_COUNT)
		return error_set(err, ERROR_FORMAT, "'%s' is no phase", name);
	*out = (enum report_phase)index;
	return 0;
}

const char *report_state_name(enum report_state state)
{
	static const char *const names[] = {"complete", "incomplete", "aborted"};

	return names[state];
}

const char *report_abort_name(enum report_abort abort)
{
	return abort_names[abort];
}

int report_abort_parse(const char *name, enum report_abort *out, struct error *err)
{
	size_t index = model_index(abort_names, REPORT_ABORT_COUNT, name);

	if (index == REPORT_ABORT_COUNT)
		return error_set(err, ERROR_FORMAT, "'%s' is no kind of abort", name);
	*out = (enum report_abort)index;
	return 0;
}

const char *report_requirement_verdict_name(enum report_requirement_verdict verdict)
{
	static const char *const names[] = {"satisfied", "violated", "not-tested",
					    "not-applicable"};

	return names[verdict];
}

const char *report_conformance_name(enum report_conformance conformance)
{
	static const char *const names[] = {"conformant", "violated", "incomplete"};

	return names[conformance];
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
	       tally->outcomes[REPORT_NOT_APPLICABLE] - tally->outcomes[REPORT_SKIP] -
	       tally->outcomes[REPORT_NOTRUN];
}

enum report_requirement_verdict report_requirement_verdict_of(const struct report_tally *tally)
{
	const size_t *outcomes = tally->outcomes;
	size_t crashed = outcomes[REPORT_CRASH] - tally->cut_off;
	size_t open = outcomes[REPORT_BROKEN] + outcomes[REPORT_NOTRUN] + outcomes[REPORT_SKIP] +
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
