/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "reports/model.h"

static void test_outcome_names(void)
{
	for (int i = 0; i < REPORT_OUTCOME_COUNT; i++)
		UNIT_INT(report_outcome_of(report_outcome_names[i]), i);
	UNIT_INT(report_outcome_of("passed"), REPORT_OUTCOME_COUNT);
}

static void test_dispositions(void)
{
	static const struct {
		enum report_outcome outcome;
		enum report_outcome expected; /* REPORT_PASS: no expectation */
		enum report_disposition disposition;
	} rows[] = {
		{REPORT_PASS, REPORT_PASS, REPORT_AS_EXPECTED},
		{REPORT_UNSUPPORTED, REPORT_PASS, REPORT_AS_EXPECTED},
		{REPORT_UNSUPPORTED, REPORT_FAIL, REPORT_AS_EXPECTED},
		{REPORT_FAIL, REPORT_PASS, REPORT_UNEXPECTED_FAIL},
		{REPORT_TIMEOUT, REPORT_PASS, REPORT_UNEXPECTED_FAIL},
		{REPORT_BROKEN, REPORT_FAIL, REPORT_UNEXPECTED_FAIL},
		{REPORT_BROKEN, REPORT_PASS, REPORT_UNEXPECTED_FAIL},
		{REPORT_FAIL, REPORT_FAIL, REPORT_EXPECTED_FAIL},
		{REPORT_CRASH, REPORT_FAIL, REPORT_UNEXPECTED_FAIL},
		{REPORT_TIMEOUT, REPORT_CRASH, REPORT_UNEXPECTED_IMPROVEMENT},
		{REPORT_PASS, REPORT_FAIL, REPORT_UNEXPECTED_IMPROVEMENT},
		{REPORT_NOTRUN, REPORT_FAIL, REPORT_UNDECIDED},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_INT(report_disposition_of(rows[i].outcome, rows[i].expected),
			 rows[i].disposition);
	CU_ASSERT_PTR_NULL(report_disposition_names[REPORT_UNDECIDED]);
}

static void test_requirement_verdicts(void)
{
	static const struct {
		struct report_tally tally;
		enum report_requirement_verdict verdict;
	} rows[] = {
		{{.outcomes = {[REPORT_PASS] = 1}}, REPORT_SATISFIED},
		{{.outcomes = {0}}, REPORT_NOT_TESTED},
		{{.outcomes = {[REPORT_PASS] = 1, [REPORT_BROKEN] = 1}}, REPORT_NOT_TESTED},
		{{.outcomes = {[REPORT_PASS] = 1, [REPORT_NOTRUN] = 1}}, REPORT_NOT_TESTED},
		{{.outcomes = {[REPORT_PASS] = 1, [REPORT_FAIL] = 1, [REPORT_BROKEN] = 1}},
		 REPORT_VIOLATED},
		{{.outcomes = {[REPORT_PASS] = 1, [REPORT_CRASH] = 1}}, REPORT_VIOLATED},
		{{.outcomes = {[REPORT_PASS] = 1, [REPORT_CRASH] = 1}, .cut_off = 1},
		 REPORT_NOT_TESTED},
		/* Whatever applies and did not pass keeps it open. */
		{{.outcomes = {[REPORT_PASS] = 1, [REPORT_UNSUPPORTED] = 1}}, REPORT_NOT_TESTED},
		{{.outcomes = {[REPORT_PASS] = 2}, .unproven = 1}, REPORT_NOT_TESTED},
		{{.outcomes = {[REPORT_PASS] = 1}, .left_out = 1}, REPORT_NOT_TESTED},
		/* What does not apply does not. */
		{{.outcomes = {[REPORT_PASS] = 1, [REPORT_NOT_APPLICABLE] = 1}}, REPORT_SATISFIED},
		{{.outcomes = {[REPORT_NOT_APPLICABLE] = 2}}, REPORT_REQUIREMENT_NOT_APPLICABLE},
		{{.outcomes = {[REPORT_NOT_APPLICABLE] = 1, [REPORT_UNSUPPORTED] = 1}},
		 REPORT_NOT_TESTED},
		{{.outcomes = {[REPORT_NOT_APPLICABLE] = 1}, .left_out = 1}, REPORT_NOT_TESTED},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_INT(report_requirement_verdict_of(&rows[i].tally), rows[i].verdict);
}

static void test_exit_codes(void)
{
	struct report_tally tally = {0};
	struct report_facts facts = {.state = REPORT_COMPLETE, .tally = &tally};
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_TOO_FEW);
	tally.outcomes[REPORT_UNSUPPORTED] = 5;
	tally.outcomes[REPORT_NOT_APPLICABLE] = 5;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_TOO_FEW);
	tally.outcomes[REPORT_PASS] = 2;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_EXPECTED);
	facts.min_run = 3;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_TOO_FEW);
	facts.conformance = REPORT_CONFORMANCE_VIOLATED;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_TOO_FEW);
	facts.conformance_required = true;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_UNEXPECTED);
	facts.min_run = 0;
	facts.conformance = REPORT_CONFORMANCE_INCOMPLETE;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_UNEXPECTED);
	facts.conformance = REPORT_CONFORMANT;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_EXPECTED);
	tally.outcomes[REPORT_NOTRUN] = 1;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_INCOMPLETE);
	tally.dispositions[REPORT_UNEXPECTED_IMPROVEMENT] = 1;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_UNEXPECTED);
	tally.outcomes[REPORT_NOTRUN] = 0;
	CU_ASSERT_EQUAL(report_exit_of(&facts), REPORT_EXIT_UNEXPECTED);
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
