/* SPDX-License-Identifier: MIT */
/* Memory runs out at each allocation in turn: the work fails, or its result is the one that it has
 * with all the memory it wants. Never a better one. */
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "conformance/runner/doubles/failing_allocator.h"
#include "conformance/runner/execution.h"
#include "conformance/runner/plan.h"
#include "conformance/runner/result.h"
#include "reports/journal.h"
#include "reports/render.h"
#include "reports/tests/sample_plan.h"
#include "reports/writer.h"

#include <fcntl.h>
#include <unistd.h>

#define GOLDEN GPUCERT_SOURCE_DIR "/reports/tests/golden"

static char *directory;

/* Work in which allocations fail. 0 with a result, which is compared, or an error. */
typedef int work_fn(const void *subject, char **result);

static bool work_is_sound(const char *name, work_fn *work, const void *subject,
			  enum allocator_mode mode, size_t at, const char *whole, bool *failed)
{
	char *result CLEANUP_FREE = NULL;
	long live = allocator_live();
	int rc = 0;
	allocator_arm(mode, at);
	rc = work(subject, &result);
	(void)allocator_disarm();
	*failed = rc < 0;
	live = allocator_live() - live - (result != NULL ? 1 : 0);
	if (live != 0)
		(void)fprintf(stderr, "%s, allocation %zu: %ld not freed\n", name, at, live);
	if (rc == 0 && !text_equal(result, whole))
		(void)fprintf(stderr, "%s, allocation %zu: %s\n", name, at, result);
	return live == 0 && (rc < 0 || text_equal(result, whole));
}

static void expect_sound(const char *name, work_fn *work, const void *subject)
{
	static const enum allocator_mode modes[] = {ALLOCATOR_FAILS_ONCE, ALLOCATOR_FAILS_FROM};
	char *warm CLEANUP_FREE = NULL;
	char *whole CLEANUP_FREE = NULL;
	size_t failures = 0;
	size_t count = 0;
	UNIT_INT(work(subject, &warm), 0); /* libraries keep what they allocate when first used */
	allocator_arm(ALLOCATOR_COUNTS, 0);
	UNIT_INT(work(subject, &whole), 0);
	count = allocator_disarm();
	UNIT_NEED(whole != NULL && count != 0);
	UNIT_STRING(warm, whole);
	for (size_t mode = 0; mode < ARRAY_SIZE(modes); mode++) {
		for (size_t at = 1; at <= count; at++) {
			bool failed = false;
			if (!work_is_sound(name, work, subject, modes[mode], at, whole, &failed)) {
				CU_FAIL("out of memory changes the result, or leaks");
				return;
			}
			failures += failed ? 1 : 0;
		}
	}
	CU_ASSERT_TRUE(failures > count); /* it is not that nothing notices */
}

static int taken(char *string, char **result)
{
	*result = string;
	return string != NULL ? 0 : ERROR_MEMORY;
}

static int work_report(const void *subject, char **result)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	cJSON *report CLEANUP_JSON = NULL;
	int rc = journal_read(subject, &log, NULL);
	if (rc == 0)
		rc = report_render(&log, &report, NULL);
	if (rc == 0)
		rc = report_make_reproducible(report, NULL);
	return rc == 0 ? taken(json_print_compact(report), result) : rc;
}

static void test_reports(void)
{
	expect_sound("outcomes", work_report, GOLDEN "/outcomes/journal.ndjson");
	expect_sound("partial", work_report, GOLDEN "/partial/journal.ndjson");
}

struct printed {
	const char *format;
	const cJSON *report;
};

static int work_print(const void *subject, char **result)
{
	const struct printed *printed = subject;
	const struct writer_options plain = {.location = "out"};
	return writer_print(writer_find(printed->format), printed->report, &plain, result, NULL);
}

static void test_writers(void)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	cJSON *report CLEANUP_JSON = NULL;
	UNIT_INT(journal_read(GOLDEN "/outcomes/journal.ndjson", &log, NULL), 0);
	UNIT_INT(report_render(&log, &report, NULL), 0);
	for (const struct writer *writer = writers; writer->name != NULL; writer++) {
		const struct printed printed = {writer->name, report};
		expect_sound(printed.format, work_print, &printed);
	}
}

static int write_journal(struct journal *journal, const cJSON *environment, const cJSON *plan,
			 const cJSON *assertions)
{
	const struct journal_check_end end = {
		.check = "a.one", .outcome = REPORT_FAIL, .reason = "it did not hold"};
	struct members copy CLEANUP_MEMBERS = {.object = cJSON_Duplicate(plan, true)};
	const cJSON *assertion = NULL;
	int rc = journal_add_environment(journal, environment, NULL);
	if (rc == 0)
		rc = journal_add_plan(journal, &copy, NULL);
	if (rc == 0)
		rc = journal_begin_check(journal, "a.one", 1000, NULL);
	cJSON_ArrayForEach (assertion, assertions) {
		if (rc == 0)
			rc = journal_add_seen(journal, "a.one", JOURNAL_ASSERTION, assertion, NULL);
	}
	if (rc == 0)
		rc = journal_add_event(journal, "a.one", "kind", "text", NULL);
	if (rc == 0)
		rc = journal_end_check(journal, &end, NULL);
	return rc == 0 ? journal_end(journal, NULL) : rc;
}

struct journal_subject {
	char *path;
	cJSON *environment;
	cJSON *plan;
	cJSON *assertions;
};

static int work_journal(const void *subject, char **result)
{
	static const char *const argv[] = {"run", NULL};
	static const struct journal_run run = {.id = "r", .argv = argv, .timeout_percent = 100};
	const struct journal_subject *what = subject;
	struct journal *journal CLEANUP_JOURNAL = NULL;
	int rc = 0;
	(void)unlink(what->path);
	rc = journal_create(what->path, &run, &journal, NULL);
	rc = rc == 0 ? write_journal(journal, what->environment, what->plan, what->assertions) : rc;
	/* What was written renders, and to the same report. */
	return rc == 0 ? work_report(what->path, result) : rc;
}

static void test_journals(void)
{
	struct journal_subject subject = {
		.path = path_join(directory, "journal.ndjson"),
		.environment =
			cJSON_Parse("{\"node\":{\"kind\":\"live\"},\"devices\":[{\"ref\":\"a\"}]}"),
		.plan = cJSON_Parse(sample_plan),
		.assertions = cJSON_Parse(
			"[{\"what\":\"w\",\"wanted\":\"1\",\"saw\":\"1\",\"ok\":true},"
			"{\"what\":\"w\",\"wanted\":\"1\",\"saw\":\"2\",\"ok\":false}]"),
	};
	expect_sound("journal", work_journal, &subject);
	cJSON_Delete(subject.environment);
	cJSON_Delete(subject.plan);
	cJSON_Delete(subject.assertions);
	free(subject.path);
}

static char *describe(const struct result *result)
{
	const char *reason = "";
	const char *name = report_outcome_names[result_outcome(result, &reason)];
	return text_format("%s (%s) %d %d", name, reason, result->asserted, result->finished);
}

static int work_result(const void *subject, char **out)
{
	struct result result CLEANUP_RESULT = {0};
	int rc = 0;
	for (const char *line = subject; rc == 0 && *line != '\0';) {
		size_t size = strcspn(line, "\n");
		rc = result_add_line(&result, line, size, NULL);
		line += size + (line[size] == '\n' ? 1 : 0);
	}
	return rc == 0 ? taken(describe(&result), out) : rc;
}

#define HELD "{\"type\":\"assertion\",\"what\":\"w\",\"wanted\":\"1\",\"saw\":\"1\",\"ok\":true}\n"
#define FAILED                                                                                     \
	"{\"type\":\"assertion\",\"what\":\"w\",\"wanted\":\"1\",\"saw\":\"2\",\"ok\":false}\n"
#define REMARK(outcome) "{\"type\":\"remark\",\"outcome\":\"" outcome "\",\"text\":\"t\"}\n"
#define NOTE		"{\"type\":\"note\",\"text\":\"t\"}\n"
#define DEVICE		"{\"type\":\"device\",\"ref\":\"d\"}\n"
#define FINISHED	"{\"type\":\"finished\"}\n"

static void test_results(void)
{
	expect_sound("pass", work_result, HELD NOTE DEVICE FINISHED);
	expect_sound("fail", work_result, HELD FAILED HELD FINISHED);
	expect_sound("broken", work_result, HELD REMARK("broken") FINISHED);
	expect_sound("unsupported", work_result, HELD REMARK("unsupported") FINISHED);
	expect_sound("not applicable", work_result, HELD REMARK("not-applicable") FINISHED);
}

static void body_fails(struct check_run *run)
{
	(void)check_expect_int(run, "/answer", 42, 42);
	(void)check_expect_text(run, "/name", "wrong", "right");
	(void)check_expect_at_most(run, "/wait", 7, 5);
	check_note(run, "%d seconds", 7);
	check_add_device(run, "device");
}

static void body_cannot_tell(struct check_run *run)
{
	(void)check_expect_int(run, "/answer", 42, 42);
	check_broken(run, "the scale is not calibrated");
}

static void body_does_not_apply(struct check_run *run)
{
	(void)check_expect_int(run, "/answer", 42, 42);
	check_not_applicable(run, "no such option");
	check_unsupported(run, "no such device");
}

static void body_stores(struct check_run *run)
{
	(void)check_expect_int(run, "/answer", 42, 42);
	check_evidence_text(run, "kept.txt", "kept", 4);
}

/* A check's own process, whose records the runner reads. */
static int work_check(const void *subject, char **out)
{
	const struct context context = {.out_directory = directory};
	char *path CLEANUP_FREE = path_join(directory, "records");
	char *records CLEANUP_FREE = NULL;
	int fd CLEANUP_FD = -1;
	int rc = path != NULL ? 0 : ERROR_MEMORY;
	if (rc == 0)
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	rc = rc == 0 ? check_run_execute(subject, &context, directory, fd, NULL) : rc;
	rc = rc == 0 ? file_read(path, 1 << 20, &records, NULL, NULL) : rc;
	return rc == 0 ? work_result(records, out) : rc;
}

static void test_checks(void)
{
	const struct check rows[] = {
		{.id = "m.fails", .run = body_fails},
		{.id = "m.cannot-tell", .run = body_cannot_tell},
		{.id = "m.does-not-apply", .run = body_does_not_apply},
		{.id = "m.stores", .run = body_stores},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect_sound(rows[i].id, work_check, &rows[i]);
}

#define ROW(name, about, ...)                                                                      \
	{                                                                                          \
		.id = "m." name, .requirement = (about), .needs = {__VA_ARGS__}, .run = body_fails \
	}

static const struct check planned[] = {
	ROW("any", CHECK_REG_01, .devices = 0),
	ROW("windows", CHECK_WIN_01, .os = "windows"),
	ROW("pair", CHECK_ISO_03, .devices = 2),
	ROW("container", CHECK_ISO_01, .containers = true),
	ROW("vulkan", CHECK_API_01, .devices = 1, .launcher = true, .api = "vulkan"),
	{.id = NULL},
};
static const struct check_suite planned_suite = {.name = "m", .title = "Memory", .checks = planned};
static const struct check_suite *const planned_suites[] = {&planned_suite, NULL};

static void describe_items(struct text *text, const struct plan_item *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		text_addf(text, "%s %s %s\n", items[i].check->id,
			  report_outcome_names[items[i].outcome],
			  items[i].reason != NULL ? items[i].reason : "");
}

static int work_plan(const void *subject, char **out)
{
	static const struct plan_filter everything;
	struct plan plan CLEANUP_PLAN = {0};
	struct text text CLEANUP_TEXT = {0};
	int rc = plan_make(planned_suites, &everything, subject, &plan, NULL);
	if (rc < 0)
		return rc;
	describe_items(&text, plan.items, plan.count);
	describe_items(&text, plan.items + plan.count, plan.left_out_count);
	return taken(text_take(&text), out);
}

static void test_plans(void)
{
	static const char *const apis[] = {"opencl", NULL};
	struct discovery_device device = {.id = "gpu",
					  .description = "A GPU",
					  .vendor = "V",
					  .driver_name = "d",
					  .driver_version = "1",
					  .pci_address = "",
					  .apis = apis};
	struct discovery_snapshot node = {
		.system = {.os = "linux",
			   .product = "p",
			   .build = "1",
			   .architecture = "x86_64",
			   .enumerator = "",
			   .emulator = ""},
		.devices = &device,
		.device_count = 1,
	};
	const struct context context = {
		.plugin_command = "/bin/true --flag",
		.kubelet_profile = "1.36",
		.launcher = "none",
		.launcher_missing = "nothing is installed",
		.node = &node,
	};
	expect_sound("plan", work_plan, &context);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"reports", test_reports},
		{"writers", test_writers},
		{"journals", test_journals},
		{"what the runner reads from a check", test_results},
		{"what a check records", test_checks},
		{"plans", test_plans},
		CU_TEST_INFO_NULL,
	};
	int rc = 0;
	if (file_make_temporary(GPUCERT_BINARY_DIR "/tests", "memory-", &directory, NULL) < 0)
		return 1;
	rc = unit_run("memory", tests);
	(void)file_remove_tree(directory, NULL);
	free(directory);
	return rc;
}
