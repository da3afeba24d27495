/* SPDX-License-Identifier: MIT */
/* What the kernel says while a check runs turns a pass into a failure, and nothing else does. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "conformance/runner/execution.h"

static struct {
	char *directory, *path;
	struct system_log *log;
} fixture;

static struct discovery_device devices[] = {
	{.id = "one", .pci_address = "0000:03:00.0", .driver_name = "amdgpu"},
	{.id = "two", .pci_address = "0000:04:00.0", .driver_name = "amdgpu"},
};
static const struct discovery_snapshot node = {.devices = devices, .device_count = 2};

static const struct check launches = {.id = "test.launches", .needs = {.launcher = true}};
static const struct check registers = {.id = "test.registers"};
static const struct check provokes = {
	.id = "test.provokes", .needs = {.launcher = true}, .provokes = true};

#define PASSED "{\"type\":\"assertion\",\"what\":\"w\",\"wanted\":\"1\",\"saw\":\"1\",\"ok\":true}"
#define LACKS  "{\"type\":\"remark\",\"outcome\":\"unsupported\",\"text\":\"no such API\"}"
#define BROKE  "{\"type\":\"remark\",\"outcome\":\"broken\",\"text\":\"no memory\"}"
#define DEVICE "{\"type\":\"device\",\"ref\":\"two\"}"
#define RESET  "3,1,5,-;amdgpu 0000:03:00.0: amdgpu: GPU reset begin!\n"
#define TEXT   "amdgpu 0000:03:00.0: amdgpu: GPU reset begin!"
#define OTHERS "3,1,5,-;amdgpu 0000:05:00.0: amdgpu: GPU reset begin!\n"
#define QUIET  "6,1,5,-;amdgpu 0000:03:00.0: [drm] hello\n"

static void expect(const struct check *check, const char *told, const char *lines,
		   enum report_outcome outcome, const char *why)
{
	const struct context context = {.out_directory = fixture.directory, .node = &node};
	const struct execution_spec spec = {
		.check = check, .context = &context, .log = fixture.log};
	struct execution execution CLEANUP_EXECUTION = {0};
	struct text_list words CLEANUP_TEXT_LIST = {0};
	const char *reason = "";
	FILE *file = fopen(fixture.path, "a");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	text_list_split(&words, told, '\n');
	for (size_t i = 0; i < words.count; i++)
		UNIT_INT(result_add_line(&execution.result, words.items[i], strlen(words.items[i]),
					 NULL),
			 0);
	UNIT_INT(fputs(lines, file) < 0, 0);
	UNIT_INT(fclose(file), 0);
	UNIT_INT(log_watch_record(&spec, &execution, NULL), 0);
	UNIT_INT(result_outcome(&execution.result, &reason), outcome);
	UNIT_CONTAINS(reason, why);
}

static void test_outcomes(void)
{
	expect(&launches, PASSED, "", REPORT_PASS, "");
	expect(&launches, PASSED, QUIET, REPORT_PASS, "");
	expect(&launches, PASSED, OTHERS, REPORT_PASS, "");
	expect(&launches, PASSED, QUIET RESET, REPORT_FAIL,
	       "system log: got " TEXT ", expected no");
	expect(&launches, LACKS, RESET, REPORT_FAIL, TEXT);
	expect(&launches, BROKE, RESET, REPORT_BROKEN, "no memory");
	/* it is about another device, launches nothing, or brought it about */
	expect(&launches, PASSED "\n" DEVICE, RESET, REPORT_PASS, "");
	expect(&registers, PASSED, RESET, REPORT_PASS, "");
	expect(&provokes, PASSED, RESET, REPORT_PASS, "");
	/* a check that saw nothing does not pass by what the kernel said */
	expect(&launches, DEVICE, QUIET, REPORT_BROKEN, "recorded nothing");
}

static char *read_evidence(const char *check)
{
	char *path CLEANUP_FREE =
		text_format("%s/evidence/%s/99-system-log.txt", fixture.directory, check);
	char *text = NULL;
	UNIT_INT(file_read(path, 1 << 20, &text, NULL, NULL), 0);
	return text;
}

static void test_evidence(void)
{
	expect(&registers, PASSED, QUIET OTHERS RESET, REPORT_PASS, "");
	char *text CLEANUP_FREE = read_evidence(registers.id);
	UNIT_STRING(text, "[0.000005] amdgpu 0000:03:00.0: [drm] hello\n[0.000005] " TEXT "\n");
}

static void test_a_flood_is_bounded(void)
{
	struct text flood CLEANUP_TEXT = {0};
	for (size_t i = 0; i < 5000; i++)
		text_add(&flood, RESET);
	expect(&launches, PASSED, text_string(&flood), REPORT_FAIL, TEXT);
	char *text CLEANUP_FREE = read_evidence(launches.id);
	CU_ASSERT(strlen(text) > 60000 && strlen(text) < 66000);
}

static void test_without_a_log(void)
{
	struct system_log *log = fixture.log;
	fixture.log = NULL;
	expect(&launches, PASSED, "", REPORT_PASS, "");
	fixture.log = log;
}

static int open_fixture(void)
{
	if (file_make_temporary(NULL, "log-watch-", &fixture.directory, NULL) < 0)
		return 1;
	fixture.path = path_join(fixture.directory, "kmsg");
	return fixture.path == NULL || file_write_atomic(fixture.path, "", 0, 0600, NULL) < 0 ||
	       system_log_open(fixture.path, &fixture.log, NULL) < 0;
}

static int close_fixture(void)
{
	system_log_close(&fixture.log);
	int rc = file_remove_tree(fixture.directory, NULL);
	free(fixture.path);
	free(fixture.directory);
	return rc;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"outcomes", test_outcomes},
		{"evidence", test_evidence},
		{"a flood is bounded", test_a_flood_is_bounded},
		{"without a log", test_without_a_log},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("what the kernel says of a check", open_fixture, close_fixture, tests);
}
