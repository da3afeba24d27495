/* SPDX-License-Identifier: MIT */
/* The runner against deliberately bad checks. The test program is also the process that runs them.
 */
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "conformance/runner/doubles/meta_suite.h"
#include "conformance/runner/execution.h"
#include "reports/journal.h"

#include <string.h>

static struct {
	uv_loop_t loop;
	char *directory;
	char *program;
	struct context context;
	struct discovery_snapshot node;
	volatile bool interrupted;
} fixture;

static int fixture_open(void)
{
	struct error err = {0};

	(void)uv_loop_init(&fixture.loop);
	if (path_of_program(&fixture.program, &err) < 0 ||
	    file_make_temporary(NULL, "gpucert-test-", &fixture.directory, &err) < 0)
		return 1;
	fixture.node.recorded_at = "";
	fixture.node.system = (struct discovery_system){
		.os = "linux",
		.product = "test",
		.build = "1",
		.architecture = "x86_64",
		.version = "",
		.kernel_build = "",
		.enumerator = "",
		.emulator = "",
	};
	fixture.context = (struct context){
		.run_id = "test",
		.run_directory = fixture.directory,
		.out_directory = fixture.directory,
		.plugin_command = "none",
		.kubelet_profile = "1.36",
		.launcher = "none",
		.launcher_missing = "a test",
		.cri_address = "",
		.cgroup_parent = "",
		.probe_image = "",
		.timeout_percent = 50,
		.node = &fixture.node,
	};
	return context_write(&fixture.context, &err) < 0 ? 1 : 0;
}

static int fixture_close(void)
{
	(void)file_remove_tree(fixture.directory, NULL);
	free(fixture.directory);
	free(fixture.program);
	(void)uv_run(&fixture.loop, UV_RUN_DEFAULT); /* until the last handles are closed */
	return uv_loop_close(&fixture.loop) == 0 ? 0 : 1;
}

static void run_check(const char *name, struct execution *execution)
{
	struct plan_item item = {.name = strdup(name)};
	struct error err = {0};
	struct execution_spec spec = {
		.loop = &fixture.loop,
		.program = fixture.program,
		.context = &fixture.context,
		.item = &item,
		.directory = fixture.directory,
		.interrupted = &fixture.interrupted,
	};

	CU_ASSERT_EQUAL_FATAL(
		plan_find(meta_suites, name, &item.suite, &item.check, &item.variant, &err), 0);
	CU_ASSERT_EQUAL_FATAL(execution_run(&spec, execution, &err), 0);
	free(item.name);
}

static void expect(const char *name, enum report_outcome outcome, const char *reason)
{
	struct execution execution CLEANUP_EXECUTION = {0};

	run_check(name, &execution);
	CU_ASSERT_EQUAL(execution.outcome, outcome);
	if (strstr(execution.reason, reason) == NULL)
		(void)fprintf(stderr, "%s: reason is '%s'\n", name, execution.reason);
	CU_ASSERT_PTR_NOT_NULL(strstr(execution.reason, reason));
}

static void test_outcomes(void)
{
	expect("meta.fail", REPORT_FAIL, "/answer: saw 41, wanted 42");
	expect("meta.broken", REPORT_BROKEN, "not calibrated");
	expect("meta.unsupported", REPORT_UNSUPPORTED, "no such API");
	expect("meta.not-applicable", REPORT_NOT_APPLICABLE, "no such option");
	expect("meta.silent", REPORT_BROKEN, "recorded nothing");
	expect("meta.exit", REPORT_CRASH, "before it finished");
	expect("meta.spam", REPORT_BROKEN, "more than");
	expect("meta.hostile", REPORT_FAIL, "/na");
	expect("meta.variant@right", REPORT_PASS, "");
	expect("meta.variant@wrong", REPORT_FAIL, "saw wrong");
}

static void expect_varies(const cJSON *assertions, const char *pointer, const char *wanted)
{
	UNIT_STRING(cJSON_GetStringValue(json_pointer(assertions, pointer)), wanted);
}

/* What differs from run to run is recorded as such, and the shortest look as that of the check. */
static void test_measures(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};

	run_check("meta.measures", &execution);
	UNIT_INT(execution.outcome, REPORT_PASS);
	expect_varies(execution.result.assertions, "/0/varies", "saw");
	expect_varies(execution.result.assertions, "/1/varies", "both");
	expect_varies(execution.result.assertions, "/2/varies", "saw");
	expect_varies(execution.result.assertions, "/2/saw", "gpu-7.sock");
	UNIT_INT(execution.result.watched_ms, 1000);
	UNIT_INT(execution.result.watched_thorough_ms, 30000);
}

static void test_pass_keeps_everything(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	const cJSON *evidence = NULL;
	char *path CLEANUP_FREE = NULL;

	run_check("meta.pass", &execution);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_PASS);
	CU_ASSERT_STRING_EQUAL(execution.reason, "");
	CU_ASSERT_EQUAL(cJSON_GetArraySize(execution.result.assertions), 1);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(execution.result.notes), 1);
	CU_ASSERT_EQUAL(execution.result.time_ns[REPORT_PHASE_WAIT], 5000000);
	evidence = json_pointer(execution.result.evidence, "/0/path");
	UNIT_NEED(evidence != NULL);
	path = path_join(fixture.directory, evidence->valuestring);
	CU_ASSERT_TRUE(file_exists(path));
}

static void test_evidence_stays_in_its_folder(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	const cJSON *evidence = NULL;
	char *path CLEANUP_FREE = NULL;

	run_check("meta.escape", &execution);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_PASS);
	evidence = json_pointer(execution.result.evidence, "/0/path");
	UNIT_NEED(evidence != NULL);
	CU_ASSERT_STRING_EQUAL(evidence->valuestring,
			       "evidence/meta.escape/01-probe-.._.._.._.._escaped_.txt");
	path = path_join(fixture.directory, evidence->valuestring);
	CU_ASSERT_TRUE(file_exists(path));
}

/* Its records fit into a line of the journal, and the verdict is the one of the first failure. */
static void test_flood_is_bounded(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	char *assertions CLEANUP_FREE = NULL;

	run_check("meta.flood", &execution);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_FAIL);
	CU_ASSERT_PTR_NOT_NULL(strstr(execution.reason, "ppp... (3000000 bytes)"));
	assertions = json_print_compact(execution.result.assertions);
	UNIT_NEED(assertions != NULL);
	CU_ASSERT_TRUE(strlen(assertions) < JOURNAL_LINE_MAX / 2);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(execution.result.notes), 1);
}

static void test_crash_keeps_what_was_recorded(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};

	run_check("meta.crash", &execution);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_CRASH);
	CU_ASSERT_PTR_NOT_NULL(strstr(execution.reason, "killed by"));
	CU_ASSERT_EQUAL(cJSON_GetArraySize(execution.result.assertions), 1);
}

static void test_hang_ends_at_its_limit(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};

	run_check("meta.hang", &execution);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_TIMEOUT);
	/* Scaled by 50 percent: the limit of a check is never less than its own. */
	CU_ASSERT_EQUAL(execution.timeout_ms, 2000);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(execution.result.assertions), 1);
}

static void test_leaked_process_does_not_hold_the_runner(void)
{
	expect("meta.leak", REPORT_PASS, "");
}

static void test_deferred_runs_after_the_body(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	const cJSON *note = NULL;

	run_check("meta.deferred", &execution);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_PASS);
	note = json_pointer(execution.result.notes, "/0");
	UNIT_NEED(note != NULL);
	CU_ASSERT_STRING_EQUAL(note->valuestring, "cleaned up");
}

static void test_interrupt_is_not_a_verdict(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};

	fixture.interrupted = true;
	run_check("meta.hang", &execution);
	fixture.interrupted = false;
	CU_ASSERT_EQUAL(execution.outcome, REPORT_NOTRUN);
}

int main(int argc, char **argv)
{
	CU_TestInfo tests[] = {
		{"each end has its outcome", test_outcomes},
		{"measures", test_measures},
		{"a pass keeps everything", test_pass_keeps_everything},
		{"evidence stays in its folder, whatever its name",
		 test_evidence_stays_in_its_folder},
		{"a flood of assertions is bounded", test_flood_is_bounded},
		{"a crash keeps what was recorded", test_crash_keeps_what_was_recorded},
		{"a hang ends at its limit", test_hang_ends_at_its_limit},
		{"a leaked process does not hold the runner",
		 test_leaked_process_does_not_hold_the_runner},
		{"deferred clean-ups run after the body", test_deferred_runs_after_the_body},
		{"an interrupt is not a verdict", test_interrupt_is_not_a_verdict},
		CU_TEST_INFO_NULL,
	};

	if (argc > 1 && strcmp(argv[1], META_SLEEP) == 0) {
		uv_sleep(60 * 1000);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "run-check") == 0) {
		struct text_list arguments CLEANUP_TEXT_LIST = {0};

		for (int i = 2; i < argc; i++)
			(void)text_list_add(&arguments, argv[i], NULL);
		return execution_child(meta_suites, &arguments);
	}
	return unit_run_in("execution", fixture_open, fixture_close, tests);
}
