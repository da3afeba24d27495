/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "reports/model.h"

static void test_outcome_names(void)
{
	enum report_outcome outcome = REPORT_PASS;
	struct error err = {0};

	for (int i = 0; i < REPORT_OUTCOME_COUNT; i++) {
		CU_ASSERT_EQUAL(report_outcome_parse(report_outcome_name((enum report_outcome)i),
						     &outcome, &err),
				0);
		CU_ASSERT_EQUAL(outcome, (enum report_outcome)i);
	}
	CU_ASSERT_EQUAL(report_outcome_parse("passed", &outcome, &err), ERROR_FORMAT);
	CU_ASSERT_STRING_EQUAL(err.text, "'passed' is no outcome");
}

static void test_dispositions(void)
{
	static const enum report_outcome fail = REPORT_FAIL;
	static const enum report_outcome crash = REPORT_CRASH;
	static const enum report_outcome pass = REPORT_PASS;
	static const struct {
		enum report_outcome outcome;
		const enum report_outcome *expected;
		bool flaky;
		enum report_disposition disposition;
	} rows[] = {
		{REPORT_PASS, NULL, false, REPORT_AS_EXPECTED},
		{REPORT_UNSUPPORTED, NULL, false, REPORT_AS_EXPECTED},
		{REPORT_SKIP, &fail, false, REPORT_AS_EXPECTED},
		{REPORT_FAIL, NULL, false, REPORT_UNEXPECTED_FAIL},
		{REPORT_TIMEOUT, NULL, false, REPORT_UNEXPECTED_FAIL},
		{REPORT_FAIL, &pass, false, REPORT_UNEXPECTED_FAIL},
		{REPORT_BROKEN, &fail, false, REPORT_UNEXPECTED_FAIL},
		{REPORT_BROKEN, NULL, true, REPORT_UNEXPECTED_FAIL},
		{REPORT_FAIL, &fail, false, REPORT_EXPECTED_FAIL},
		{REPORT_CRASH, &fail, false, REPORT_UNEXPECTED_FAIL},
		{REPORT_TIMEOUT, &crash, false, REPORT_UNEXPECTED_IMPROVEMENT},
		{REPORT_PASS, &fail, false, REPORT_UNEXPECTED_IMPROVEMENT},
		{REPORT_PASS, NULL, true, REPORT_FLAKY},
		{REPORT_NOTRUN, &fail, false, REPORT_UNDECIDED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_EQUAL(
			report_disposition_of(rows[i].outcome, rows[i].expected, rows[i].flaky),
			rows[i].disposition);
	CU_ASSERT_PTR_NULL(report_disposition_name(REPORT_UNDECIDED));
}

static enum report_requirement_verdict verdict_of(size_t pass, size_t fail, size_t open,
						  size_t crash, size_t cut_off)
{
	struct report_tally tally = {.cut_off = cut_off};

	tally.outcomes[REPORT_PASS] = pass;
	tally.outcomes[REPORT_FAIL] = fail;
	tally.outcomes[REPORT_BROKEN] = open;
	tally.outcomes[REPORT_CRASH] = crash;
	tally.outcomes[REPORT_UNSUPPORTED] = 1;
	return report_requirement_verdict_of(&tally);
}

static void test_requirement_verdicts(void)
{
	CU_ASSERT_EQUAL(verdict_of(1, 0, 0, 0, 0), REPORT_SATISFIED);
	CU_ASSERT_EQUAL(verdict_of(0, 0, 0, 0, 0), REPORT_NOT_TESTED);
	CU_ASSERT_EQUAL(verdict_of(1, 0, 1, 0, 0), REPORT_NOT_TESTED);
	CU_ASSERT_EQUAL(verdict_of(1, 1, 1, 0, 0), REPORT_VIOLATED);
	CU_ASSERT_EQUAL(verdict_of(1, 0, 0, 1, 0), REPORT_VIOLATED);
	CU_ASSERT_EQUAL(verdict_of(1, 0, 0, 1, 1), REPORT_NOT_TESTED);
}

static void test_exit_codes(void)
{
	struct report_tally tally = {0};
	struct report_facts facts = {.state = REPORT_COMPLETE, .tally = &tally};

	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_TOO_FEW);
	tally.outcomes[REPORT_UNSUPPORTED] = 5;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_TOO_FEW);
	tally.outcomes[REPORT_PASS] = 2;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_EXPECTED);
	facts.min_run = 3;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_TOO_FEW);
	facts.conformance_violated = true;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_TOO_FEW);
	facts.conformance_required = true;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_UNEXPECTED);
	facts.conformance_required = false;
	tally.dispositions[REPORT_UNEXPECTED_IMPROVEMENT] = 1;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_UNEXPECTED);
	tally.outcomes[REPORT_NOTRUN] = 1;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_UNEXPECTED);
	tally.dispositions[REPORT_UNEXPECTED_IMPROVEMENT] = 0;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_INCOMPLETE);
	tally.outcomes[REPORT_NOTRUN] = 0;
	facts.state = REPORT_ABORTED;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_INCOMPLETE);
	facts.broken_abort = true;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_BROKEN);
	facts.broken_abort = false;
	tally.outcomes[REPORT_BROKEN] = 4;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_INCOMPLETE);
	tally.outcomes[REPORT_PASS] = 0;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_BROKEN);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"outcomes have names", test_outcome_names},
		{"dispositions follow from outcome and expectation", test_dispositions},
		{"verdicts on requirements", test_requirement_verdicts},
		{"exit codes", test_exit_codes},
		CU_TEST_INFO_NULL,
	};

	return unit_run("model", tests);
}
