/* SPDX-License-Identifier: MIT */
/* The runner against deliberately bad checks. The test program is also the process that runs them.
 */
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "conformance/runner/doubles/meta_suite.h"
#include "conformance/runner/execution.h"
#include "reports/render.h"

#include <string.h>

static struct {
	uv_loop_t loop;
	char *directory;
	char *journal;
	char *program;
	struct context context;
	struct discovery_snapshot node;
	struct redactor *redactor;
	volatile bool interrupted;
} fixture;

static int fixture_open(void)
{
	struct error err = {0};
	(void)uv_loop_init(&fixture.loop);
	if (path_of_program(&fixture.program, &err) < 0 ||
	    file_make_temporary(NULL, "gpucert-test-", &fixture.directory, &err) < 0)
		return 1;
	if (redactor_new(false, NULL, &fixture.redactor, &err) < 0 ||
	    redactor_add(fixture.redactor, REDACT_HOST, "hello", &err) < 0)
		return 1;
	fixture.journal = path_join(fixture.directory, JOURNAL_FILE_NAME);
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
		.redactor = fixture.redactor,
	};
	return context_write(&fixture.context, &err) < 0 ? 1 : 0;
}

static int fixture_close(void)
{
	(void)file_remove_tree(fixture.directory, NULL);
	free(fixture.directory);
	free(fixture.journal);
	free(fixture.program);
	redactor_free(&fixture.redactor);
	(void)uv_run(&fixture.loop, UV_RUN_DEFAULT); /* until the last handles are closed */
	return uv_loop_close(&fixture.loop) == 0 ? 0 : 1;
}

static struct journal *open_journal(const char *check)
{
	static const struct journal_run run = {.id = "test", .timeout_percent = 100};
	struct journal *journal = NULL;
	struct members plan CLEANUP_MEMBERS = {0};
	char *text CLEANUP_FREE = text_format(
		"{\"settings\":{\"launcher\":\"none\",\"profile\":\"1.36\",\"thorough\":false},"
		"\"filteredOut\":0,\"requirements\":[],\"checks\":[{\"id\":\"%s\",\"revision\":1,"
		"\"severity\":\"low\",\"title\":\"t\",\"advice\":\"a\"}]}",
		check);
	plan.object = cJSON_Parse(text);
	(void)file_remove_tree(fixture.journal, NULL);
	CU_ASSERT_EQUAL_FATAL(journal_create(fixture.journal, &run, &journal, NULL), 0);
	UNIT_INT(journal_add_plan(journal, &plan, NULL), 0);
	UNIT_INT(journal_begin_check(journal, check, 1000, NULL), 0);
	return journal;
}

/* What the report says of the check. Caller owns the report. */
static const cJSON *render(cJSON **report)
{
	struct error err = {0};
	const cJSON *check = NULL;
	UNIT_INT(report_read_directory(fixture.directory, report, &err), 0);
	UNIT_STRING(err.text, "");
	check = json_pointer(*report, "/checks/0");
	CU_ASSERT_PTR_NOT_NULL_FATAL(check);
	return check;
}

/* Runs the check; `report` (may be NULL) is that of its journal. */
static void run_check(const char *name, struct execution *execution, cJSON **report)
{
	struct journal *journal CLEANUP_JOURNAL = open_journal(name);
	const struct check_suite *suite = NULL;
	struct error err = {0};
	struct execution_spec spec = {
		.loop = &fixture.loop,
		.program = fixture.program,
		.context = &fixture.context,
		.journal = journal,
		.directory = fixture.directory,
		.interrupted = &fixture.interrupted,
	};
	struct journal_check_end end = {.check = name};
	CU_ASSERT_EQUAL_FATAL(plan_find(meta_suites, name, &suite, &spec.check, &err), 0);
	CU_ASSERT_EQUAL_FATAL(execution_start(&spec, execution, &err), 0);
	while (!execution_has_ended(execution))
		(void)uv_run(&fixture.loop, UV_RUN_ONCE);
	CU_ASSERT_EQUAL_FATAL(execution_end(execution, &err), 0);
	end.outcome = execution->outcome;
	end.reason = execution->reason;
	UNIT_INT(journal_end_check(journal, &end, &err), 0);
	if (report != NULL)
		(void)render(report);
}

static void expect(const char *name, enum report_outcome outcome, const char *reason)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	run_check(name, &execution, NULL);
	CU_ASSERT_EQUAL(execution.outcome, outcome);
	if (strstr(execution.reason, reason) == NULL)
		(void)fprintf(stderr, "%s: reason is '%s'\n", name, execution.reason);
	CU_ASSERT_PTR_NOT_NULL(strstr(execution.reason, reason));
}

static void test_outcomes(void)
{
	expect("meta.fail", REPORT_FAIL, "/answer: got 41, expected 42");
	expect("meta.broken", REPORT_BROKEN, "not calibrated");
	expect("meta.unsupported", REPORT_UNSUPPORTED, "no such API");
	expect("meta.not-applicable", REPORT_NOT_APPLICABLE, "no such option");
	expect("meta.silent", REPORT_BROKEN, "recorded nothing");
	expect("meta.exit", REPORT_CRASH, "before it finished");
	expect("meta.spam", REPORT_BROKEN, "more than");
	expect("meta.hostile", REPORT_FAIL, "/na");
}

static int count(const cJSON *report, const char *list)
{
	return cJSON_GetArraySize(cJSON_GetObjectItem(json_pointer(report, "/checks/0"), list));
}

static void expect_member(const cJSON *assertions, const char *pointer, const char *wanted)
{
	UNIT_STRING(cJSON_GetStringValue(json_pointer(assertions, pointer)), wanted);
}

/* Of what is said twice of a device the last counts: what the kernel says comes behind the check. */
static void test_devices(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	cJSON *report CLEANUP_JSON = NULL;
	run_check("meta.devices", &execution, &report);
	UNIT_INT(execution.outcome, REPORT_FAIL);
	UNIT_INT(execution.result.devices.count, 1);
	UNIT_INT(count(report, "devices"), 1);
	UNIT_INT(count(report, "deviceOutcomes"), 1);
	expect_member(report, "/checks/0/deviceOutcomes/0/outcome", "fail");
}

/* What differs from run to run is recorded as such, and the shortest look as that of the check. */
static void test_measures(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	cJSON *report CLEANUP_JSON = NULL;
	run_check("meta.measures", &execution, &report);
	UNIT_INT(execution.outcome, REPORT_PASS);
	expect_member(report, "/checks/0/assertions/0/varies", "saw");
	expect_member(report, "/checks/0/assertions/1/varies", "both");
	expect_member(report, "/checks/0/assertions/2/varies", "saw");
	expect_member(report, "/checks/0/assertions/2/saw", "gpu-7.sock");
	UNIT_INT(execution.result.watched_ms, 1000);
	UNIT_INT(execution.result.watched_thorough_ms, 30000);
}

static void expect_kubelets(const char *profile, enum report_outcome outcome, const char *reason,
			    const char *kubelets)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	cJSON *report CLEANUP_JSON = NULL;
	char *socket CLEANUP_FREE = path_join(fixture.directory, "socket");
	fixture.context.kubelet_profile = profile;
	CU_ASSERT_EQUAL_FATAL(context_write(&fixture.context, NULL), 0);
	run_check("meta.kubelets", &execution, &report);
	UNIT_INT(execution.outcome, outcome);
	UNIT_STRING(execution.reason, reason);
	char *saw CLEANUP_FREE = json_print_compact(json_pointer(report, "/verdict/kubelets"));
	UNIT_STRING(saw, kubelets);
	(void)file_remove_tree(socket, NULL);
	fixture.context.kubelet_profile = "1.36";
	CU_ASSERT_EQUAL_FATAL(context_write(&fixture.context, NULL), 0);
}

/* A check whose rule differs between kubelets runs under each that the run is for. */
static void test_kubelets(void)
{
	static const char older[] = "{\"version\":\"1.36\",\"failed\":[]}";
	static const char newer[] = "{\"version\":\"1.37\",\"failed\":[\"meta.kubelets\"]}";
	char *only_older CLEANUP_FREE = text_format("[%s]", older);
	char *only_newer CLEANUP_FREE = text_format("[%s]", newer);
	char *both CLEANUP_FREE = text_format("[%s,%s]", older, newer);
	expect_kubelets("1.36", REPORT_PASS, "", only_older);
	expect_kubelets("1.37", REPORT_FAIL, "/answer: got 41, expected 42", only_newer);
	expect_kubelets(CONTEXT_BOTH_KUBELETS, REPORT_FAIL,
			"kubelet 1.37: /answer: got 41, expected 42", both);
}

static void test_pass_keeps_everything(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	cJSON *report CLEANUP_JSON = NULL;
	const cJSON *evidence = NULL;
	char *path CLEANUP_FREE = NULL;
	run_check("meta.pass", &execution, &report);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_PASS);
	CU_ASSERT_STRING_EQUAL(execution.reason, "");
	CU_ASSERT_EQUAL(count(report, "assertions"), 1);
	CU_ASSERT_EQUAL(count(report, "notes"), 1);
	CU_ASSERT_EQUAL(execution.result.time_ns[REPORT_PHASE_WAIT], 5000000);
	evidence = json_pointer(report, "/checks/0/evidence/0/path");
	UNIT_NEED(evidence != NULL);
	path = path_join(fixture.directory, evidence->valuestring);
	CU_ASSERT_TRUE(file_exists(path));
}

static void test_evidence_stays_in_its_folder(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	cJSON *report CLEANUP_JSON = NULL;
	const cJSON *evidence = NULL;
	char *path CLEANUP_FREE = NULL;
	run_check("meta.escape", &execution, &report);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_PASS);
	evidence = json_pointer(report, "/checks/0/evidence/0/path");
	UNIT_NEED(evidence != NULL);
	CU_ASSERT_STRING_EQUAL(evidence->valuestring,
			       "evidence/meta.escape/01-probe-.._.._.._.._escaped_.txt");
	path = path_join(fixture.directory, evidence->valuestring);
	CU_ASSERT_TRUE(file_exists(path));
}

/* The journal keeps a part of its records, failures apart from the rest, and the verdict is the one of the first failure. */
static void test_flood_is_bounded(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	cJSON *report CLEANUP_JSON = NULL;
	char *data CLEANUP_FREE = NULL;
	run_check("meta.flood", &execution, &report);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_FAIL);
	CU_ASSERT_PTR_NOT_NULL(strstr(execution.reason, "ppp... (3000000 bytes)"));
	CU_ASSERT_TRUE(count(report, "assertions") >= JOURNAL_SEEN_COUNT_MAX);
	UNIT_INT(count(report, "assertions") + json_pointer(report, "/checks/0/leftOut")->valueint,
		 20001);
	UNIT_INT(file_read(fixture.journal, (size_t)3 * JOURNAL_SEEN_MAX, &data, NULL, NULL), 0);
}

static void test_crash_keeps_what_was_recorded(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	cJSON *report CLEANUP_JSON = NULL;
	run_check("meta.crash", &execution, &report);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_CRASH);
	CU_ASSERT_PTR_NOT_NULL(strstr(execution.reason, "killed by"));
	CU_ASSERT_EQUAL(count(report, "assertions"), 1);
}

static void test_hang_ends_at_its_limit(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	cJSON *report CLEANUP_JSON = NULL;
	run_check("meta.hang", &execution, &report);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_TIMEOUT);
	/* Scaled by 50 percent: the limit of a check is never less than its own. */
	CU_ASSERT_EQUAL(execution.timeout_ms, 2000);
	CU_ASSERT_EQUAL(count(report, "assertions"), 1);
}

static void test_leaked_process_does_not_hold_the_runner(void)
{
	expect("meta.leak", REPORT_PASS, "");
}

static void test_deferred_runs_after_the_body(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	cJSON *report CLEANUP_JSON = NULL;
	const cJSON *note = NULL;
	run_check("meta.deferred", &execution, &report);
	CU_ASSERT_EQUAL(execution.outcome, REPORT_PASS);
	note = json_pointer(report, "/checks/0/notes/0");
	UNIT_NEED(note != NULL);
	CU_ASSERT_STRING_EQUAL(note->valuestring, "cleaned up");
}

static void test_interrupt_is_not_a_verdict(void)
{
	struct execution execution CLEANUP_EXECUTION = {0};
	cJSON *report CLEANUP_JSON = NULL;
	fixture.interrupted = true;
	run_check("meta.hang", &execution, &report);
	fixture.interrupted = false;
	CU_ASSERT_EQUAL(execution.outcome, REPORT_NOTRUN);
}

/* Whatever a check's process writes: it cannot speak for another check, for the run or for the
 * chain, and the journal stays one that renders. */
static void test_a_lying_check_forges_nothing(void)
{
	static const char *const lies[] = {
		"{\"type\":\"run-end\"}",
		"{\"type\":\"abort\",\"kind\":\"broken\",\"reason\":\"r\"}",
		"{\"type\":\"check-begin\",\"check\":\"meta.pass\",\"timeoutMs\":1}",
		"{\"type\":\"check-end\",\"outcome\":\"pass\",\"reason\":\"\",\"durationMs\":1,"
		"\"phasesMs\":{}}",
		"{\"type\":\"environment\",\"environment\":{}}",
		"{\"type\":\"event\",\"kind\":\"k\",\"text\":\"t\"}",
		"{\"type\":\"note\",\"text\":\"t\",\"check\":\"meta.pass\"}",
		"{\"type\":\"note\",\"text\":\"t\",\"seq\":1}",
		"{\"type\":\"note\",\"text\":\"t\",\"prev\":\"sha256:0\"}",
		"{\"type\":\"note\",\"text\":{\"type\":\"run-end\"}}",
		"{\"type\":\"remark\",\"outcome\":\"fine\",\"text\":\"t\"}",
		"[{\"type\":\"finished\"}]",
		"{\"type\":\"note\",\"text\":\"t\"}{\"type\":\"run-end\"}",
	};
	static const char truth[] =
		"{\"type\":\"note\",\"type\":\"run-end\",\"text\":\"\\n{\\\"type\\\":"
		"\\\"run-end\\\"}\\n\"}";
	struct journal *journal CLEANUP_JOURNAL = open_journal("meta.fail");
	struct result result CLEANUP_RESULT = {.journal = journal, .check = "meta.fail"};
	struct journal_check_end end = {
		.check = "meta.fail", .outcome = REPORT_BROKEN, .reason = "it lies"};
	cJSON *report CLEANUP_JSON = NULL;
	const cJSON *check = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct error err = {0};
		UNIT_INT(result_add_line(&result, lies[i], strlen(lies[i]), &err), ERROR_FORMAT);
	}
	UNIT_INT(result_add_line(&result, truth, strlen(truth), NULL), 0);
	UNIT_INT(journal_end_check(journal, &end, NULL), 0);
	check = render(&report);
	UNIT_STRING(json_pointer(check, "/outcome")->valuestring, "broken");
	UNIT_INT(count(report, "notes"), 1);
	UNIT_STRING(json_pointer(check, "/notes/0")->valuestring, "\n{\"type\":\"run-end\"}\n");
	UNIT_STRING(json_pointer(report, "/run/state")->valuestring, "incomplete");
}

int main(int argc, char **argv)
{
	CU_TestInfo tests[] = {
		{"each end has its outcome", test_outcomes},
		{"devices", test_devices},
		{"measures", test_measures},
		{"each kubelet", test_kubelets},
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
		{"a lying check forges nothing", test_a_lying_check_forges_nothing},
		CU_TEST_INFO_NULL,
	};
	if (argc > 1 && strcmp(argv[1], META_SLEEP) == 0) {
		uv_sleep(60 * 1000);
		return 0;
	}
	if (argc == 4)
		return execution_child(meta_suites, argc, argv);
	return unit_run_in("execution", fixture_open, fixture_close, tests);
}
