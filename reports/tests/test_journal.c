/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "reports/tests/cases.h"
#include "reports/tests/sample_plan.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

/* Left in place: a test of the schema reads it afterwards. */
#define WRITTEN_JOURNAL GPUCERT_BINARY_DIR "/tests/written-journal.ndjson"

static char *directory;

static int open_directory(void)
{
	return file_make_temporary(GPUCERT_BINARY_DIR "/tests", "journal-", &directory, NULL);
}

static int close_directory(void)
{
	int rc = file_remove_tree(directory, NULL);
	free(directory);
	return rc;
}

static const char *const argv[] = {"run", "--out", "\xff\x1b[0m", NULL};
static const struct journal_run run = {
	.id = "20261120T101502Z-7f3a", .argv = argv, .timeout_percent = 100};

static int add_plan(struct journal *journal)
{
	struct members plan CLEANUP_MEMBERS = {.object = cJSON_Parse(sample_plan)};
	return journal_add_plan(journal, &plan, NULL);
}

static int add_seen(struct journal *journal, enum journal_type type, const char *json,
		    struct error *err)
{
	cJSON *seen CLEANUP_JSON = cJSON_Parse(json);
	return journal_add_seen(journal, "a.one", type, seen, err);
}

static struct journal *create(const char *path)
{
	struct journal *journal = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(journal_create(path, &run, &journal, &err), 0);
	return journal;
}

static cJSON *render_file(const char *path)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	cJSON *report = NULL;
	struct error err = {0};
	if (journal_read(path, &log, &err) < 0 || report_render(&log, &report, &err) < 0)
		CU_FAIL(err.text);
	return report;
}

static const char *at(const cJSON *report, const char *pointer)
{
	const char *string = cJSON_GetStringValue(json_pointer(report, pointer));
	return string != NULL ? string : "(no string)";
}

static void write_everything(struct journal *journal)
{
	cJSON *environment CLEANUP_JSON = cJSON_Parse("{\"os\":{\"product\":\"OS\"}}");
	struct journal_check_end end = {.check = "a.one",
					.outcome = REPORT_FAIL,
					.reason = "/w: got 2, expected 1",
					.duration_ms = 30,
					.phases_ms = {[REPORT_PHASE_CRI] = 20}};
	CU_ASSERT_EQUAL(journal_add_environment(journal, environment, NULL), 0);
	CU_ASSERT_EQUAL(journal_add_phase(journal, REPORT_PHASE_CRI, "started", 5, NULL), 0);
	CU_ASSERT_EQUAL(add_plan(journal), 0);
	CU_ASSERT_EQUAL(journal_add_event(journal, NULL, "kind", "\xc3(", NULL), 0);
	CU_ASSERT_EQUAL(journal_begin_check(journal, "a.one", 1000, NULL), 0);
	UNIT_INT(
		add_seen(
			journal, JOURNAL_EVIDENCE,
			"{\"type\":\"evidence\",\"name\":\"e\",\"media\":\"text/plain\","
			"\"path\":\"evidence/e\",\"digest\":\"sha256:0123456789abcdef0123456789abcdef"
			"0123456789abcdef0123456789abcdef\",\"bytes\":3,\"truncated\":false}",
			NULL),
		0);
	UNIT_INT(add_seen(journal, JOURNAL_ASSERTION,
			  "{\"what\":\"/w\",\"wanted\":\"1\",\"saw\":\"2\",\"ok\":false,"
			  "\"at\":\"f.c:1\"}",
			  NULL),
		 0);
	UNIT_INT(add_seen(journal, JOURNAL_NOTE, "{\"text\":\"n\"}", NULL), 0);
	UNIT_INT(add_seen(journal, JOURNAL_DEVICE, "{\"ref\":\"d\"}", NULL), 0);
	UNIT_INT(add_seen(journal, JOURNAL_DEVICE, "{\"ref\":\"d\"}", NULL), 0);
	UNIT_INT(add_seen(journal, JOURNAL_OBSERVATION,
			  "{\"container\":\"c\",\"granted\":[\"d\"],\"saw\":[],\"others\":1}",
			  NULL),
		 0);
	CU_ASSERT_EQUAL(journal_add_event(journal, "a.one", "kind", "text", NULL), 0);
	CU_ASSERT_EQUAL(journal_end_check(journal, &end, NULL), 0);
	CU_ASSERT_EQUAL(journal_hold_check(journal, "a.three", "a.one", "a.one \xff failed", NULL),
			0);
	CU_ASSERT_EQUAL(journal_abort(journal, REPORT_ABORT_INTERRUPTED, "enough", NULL), 0);
	CU_ASSERT_EQUAL(journal_end(journal, NULL), 0);
}

static void test_everything_written_is_rendered(void)
{
	struct journal *journal CLEANUP_JOURNAL = NULL;
	cJSON *report CLEANUP_JSON = NULL;
	(void)unlink(WRITTEN_JOURNAL);
	journal = create(WRITTEN_JOURNAL);
	write_everything(journal);
	report = render_file(WRITTEN_JOURNAL);
	CU_ASSERT_STRING_EQUAL(at(report, "/run/state"), "aborted");
	CU_ASSERT_STRING_EQUAL(at(report, "/run/abort/reason"), "enough");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/2/outcome"), "notrun");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/2/cause"), "a.one");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/2/reason"), "a.one \xef\xbf\xbd failed");
	CU_ASSERT_STRING_EQUAL(at(report, "/run/harness/version"), GPUCERT_VERSION);
	CU_ASSERT_STRING_EQUAL(at(report, "/run/invocation/argv/2"), "\xef\xbf\xbd\x1b[0m");
	CU_ASSERT_STRING_EQUAL(at(report, "/run/events/0/text"), "\xef\xbf\xbd(");
	CU_ASSERT_STRING_EQUAL(at(report, "/environment/os/product"), "OS");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/0/outcome"), "fail");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/0/disposition"), "expected-fail");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/0/evidence/0/path"), "evidence/e");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/0/assertions/0/saw"), "2");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/0/notes/0"), "n");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/0/devices/0"), "d");
	UNIT_INT(cJSON_GetArraySize(json_pointer(report, "/checks/0/devices")), 1);
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/0/events/0/text"), "text");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/1/outcome"), "unsupported");
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/1/reason"), "needs more");
	CU_ASSERT_EQUAL(json_pointer(report, "/run/time/criMs")->valueint, 25);
	CU_ASSERT_EQUAL(json_pointer(report, "/run/plan/filteredOut")->valueint, 7);
	CU_ASSERT_EQUAL(report_exit_code(report), REPORT_EXIT_INCOMPLETE);
}

static void test_journal_is_never_overwritten(void)
{
	char *path CLEANUP_FREE = text_format("%s/twice", directory);
	struct journal *journal CLEANUP_JOURNAL = create(path);
	struct error err = {0};
	journal_close(&journal);
	CU_ASSERT_EQUAL(journal_create(path, &run, &journal, &err), ERROR_EXISTS);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, path));
	CU_ASSERT_EQUAL(journal_create("/nowhere/at/all", &run, &journal, &err), ERROR_NOT_FOUND);
	CU_ASSERT_PTR_NULL(journal);
}

static void add_assertions(struct journal *journal, int count, const char *ok, const char *saw)
{
	char *json CLEANUP_FREE =
		text_format("{\"what\":\"/w\",\"wanted\":\"w\",\"saw\":\"%s\",\"ok\":%s}", saw, ok);
	for (int i = 0; i < count; i++)
		UNIT_INT(add_seen(journal, JOURNAL_ASSERTION, json, NULL), 0);
}

static void test_flood_is_bounded(void)
{
	char *path CLEANUP_FREE = text_format("%s/flood", directory);
	struct journal *journal CLEANUP_JOURNAL = create(path);
	char *saw CLEANUP_FREE = calloc(1, 6001);
	cJSON *report CLEANUP_JSON = NULL;
	const cJSON *kept = NULL;
	struct journal_check_end end = {.check = "a.one", .outcome = REPORT_FAIL, .reason = "r"};
	memset(saw, 'x', 6000);
	CU_ASSERT_EQUAL(add_plan(journal), 0);
	CU_ASSERT_EQUAL(journal_begin_check(journal, "a.one", 1000, NULL), 0);
	add_assertions(journal, 300, "true", saw);
	add_assertions(journal, 2, "false", saw);
	UNIT_INT(add_seen(journal, JOURNAL_NOTE, "{\"text\":\"n\"}", NULL), 0);
	CU_ASSERT_EQUAL(journal_end_check(journal, &end, NULL), 0);
	report = render_file(path);
	kept = json_pointer(report, "/checks/0/assertions");
	CU_ASSERT_EQUAL(cJSON_GetArraySize(kept) +
				json_pointer(report, "/checks/0/leftOut")->valueint,
			302);
	CU_ASSERT_TRUE(cJSON_GetArraySize(kept) < 140);
	/* The failed ones come last, and are kept. */
	CU_ASSERT_TRUE(cJSON_IsFalse(
		json_pointer(cJSON_GetArrayItem(kept, cJSON_GetArraySize(kept) - 2), "/ok")));
	CU_ASSERT_STRING_EQUAL(at(report, "/checks/0/notes/0"), "n");
}

static void test_too_long_a_line_is_refused(void)
{
	char *path CLEANUP_FREE = text_format("%s/long", directory);
	char *name CLEANUP_FREE = calloc(1, JOURNAL_LINE_MAX + 1);
	struct journal *journal CLEANUP_JOURNAL = create(path);
	cJSON *environment CLEANUP_JSON = cJSON_CreateObject();
	cJSON *os = cJSON_AddObjectToObject(environment, "os");
	cJSON *report CLEANUP_JSON = NULL;
	struct error err = {0};
	memset(name, 'x', JOURNAL_LINE_MAX);
	(void)cJSON_AddStringToObject(os, "product", name);
	CU_ASSERT_EQUAL(journal_add_environment(journal, environment, &err), ERROR_LIMIT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, path));
	CU_ASSERT_EQUAL(journal_end(journal, &err), 0);
	report = render_file(path);
	CU_ASSERT_STRING_EQUAL(at(report, "/run/state"), "complete");
}

/* With -j several checks run: what one sees leaves the others their share. */
static void test_each_check_has_a_share(void)
{
	char *path CLEANUP_FREE = text_format("%s/share", directory);
	struct journal *journal CLEANUP_JOURNAL = create(path);
	struct journal_check_end end = {.check = "a.two", .outcome = REPORT_PASS, .reason = ""};
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	char *held CLEANUP_FREE = text_format("{\"what\":\"w\",\"wanted\":\"%2000d\",\"saw\":\"1\","
					      "\"ok\":true,\"at\":\"a:1\"}",
					      1);
	cJSON *json CLEANUP_JSON = cJSON_Parse(held);
	UNIT_INT(journal_begin_check(journal, "a.one", 1000, NULL), 0);
	UNIT_INT(journal_begin_check(journal, "a.two", 1000, NULL), 0);
	for (size_t i = 0; i < JOURNAL_SEEN_MAX / 2000; i++)
		UNIT_INT(journal_add_seen(journal, "a.one", JOURNAL_ASSERTION, json, NULL), 0);
	UNIT_INT(journal_add_seen(journal, "a.two", JOURNAL_ASSERTION, json, NULL), 0);
	UNIT_INT(journal_end_check(journal, &end, NULL), 0);
	UNIT_INT(file_read(path, JOURNAL_SIZE_MAX, &data, &size, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(data, "\"check\":\"a.two\",\"what\""));
	end.check = "a.one";
	UNIT_INT(journal_end_check(journal, &end, NULL), 0);
}

/* What cannot be rendered is not written. */
static void test_malformed_members_are_kept_out(void)
{
	char *path CLEANUP_FREE = text_format("%s/malformed", directory);
	struct journal *journal CLEANUP_JOURNAL = create(path);
	cJSON *environment CLEANUP_JSON = cJSON_Parse("{\"devices\":[{\"name\":\"n\"}]}");
	struct error err = {0};
	CU_ASSERT_EQUAL(journal_add_environment(journal, environment, &err), ERROR_FORMAT);
	CU_ASSERT_STRING_EQUAL(err.text, "environment.devices[0].ref: missing, expected string");
	CU_ASSERT_EQUAL(journal_begin_check(journal, "a.one", 1000, NULL), 0);
	UNIT_INT(add_seen(journal, JOURNAL_EVIDENCE, "{\"name\":\"n\"}", &err), ERROR_FORMAT);
	CU_ASSERT_STRING_EQUAL(err.text, "media: missing, expected string");
	UNIT_INT(add_seen(journal, JOURNAL_ASSERTION, "1", &err), ERROR_FORMAT);
	UNIT_INT(add_seen(journal, JOURNAL_ASSERTION, "{\"ok\":false}", &err), ERROR_FORMAT);
	UNIT_INT(add_seen(journal, JOURNAL_NOTE, "{\"text\":\"n\",\"check\":\"a.two\"}", &err),
		 ERROR_FORMAT);
	CU_ASSERT_STRING_EQUAL(err.text, "check: unknown member");
}

#ifndef _WIN32
/* A limit on the file's size makes write(2) stop in the middle of a line, as a full disk does. */
static void test_full_disk_leaves_no_torn_line(void)
{
	char *path CLEANUP_FREE = text_format("%s/full", directory);
	struct journal *journal CLEANUP_JOURNAL = create(path);
	cJSON *report CLEANUP_JSON = NULL;
	struct rlimit before = {0};
	struct rlimit limit = {0};
	struct error err = {0};
	size_t size = 0;
	char *data CLEANUP_FREE = NULL;
	CU_ASSERT_EQUAL_FATAL(file_read(path, JOURNAL_SIZE_MAX, &data, &size, NULL), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)getrlimit(RLIMIT_FSIZE, &before);
	limit = (struct rlimit){.rlim_cur = size + 40, .rlim_max = before.rlim_max};
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	CU_ASSERT_TRUE(journal_add_event(journal, NULL, "kind", "text", &err) < 0);
	(void)setrlimit(RLIMIT_FSIZE, &before);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, path));
	CU_ASSERT_EQUAL(journal_end(journal, &err), 0);
	report = render_file(path);
	CU_ASSERT_STRING_EQUAL(at(report, "/run/state"), "complete");
	CU_ASSERT_EQUAL(json_pointer(report, "/run/journal/records")->valueint, 2);
}

#endif

enum { MANY = 10000 };

static cJSON *many_checks(void)
{
	cJSON *plan = cJSON_Parse(sample_plan);
	cJSON *checks = cJSON_AddArrayToObject(plan, "more");
	const cJSON *one = json_pointer(plan, "/checks/2");
	char id[32] = "";
	for (int i = 0; i < MANY; i++) {
		cJSON *check = cJSON_Duplicate(one, true);
		(void)snprintf(id, sizeof(id), "a.%d", i);
		(void)cJSON_SetValuestring(cJSON_GetObjectItem(check, "id"), id);
		(void)cJSON_AddItemToArray(checks, check);
	}
	(void)cJSON_ReplaceItemInObject(plan, "checks", cJSON_DetachItemFromObject(plan, "more"));
	return plan;
}

/* Begins and ends checks until it is killed; a line on standard output for each record. */
static int write_until_killed(const char *path)
{
	struct journal *journal CLEANUP_JOURNAL = NULL;
	char id[32] = "";
	struct journal_check_end end = {.check = id, .outcome = REPORT_FAIL, .reason = ""};
	struct members plan CLEANUP_MEMBERS = {.object = many_checks()};
	if (journal_create(path, &run, &journal, NULL) < 0)
		return 1;
	(void)setvbuf(stdout, NULL, _IONBF, 0);
	(void)journal_add_plan(journal, &plan, NULL);
	for (int i = 0;; i++) {
		(void)snprintf(id, sizeof(id), "a.%d", i % MANY);
		if (journal_begin_check(journal, id, 1000, NULL) < 0 || puts("begin") < 0 ||
		    journal_end_check(journal, &end, NULL) < 0 || puts("end") < 0)
			return 1;
	}
}

struct victim {
	struct process *process;
	int records; /* until it is killed */
};

static void kill_victim(bool is_stderr, const char *line, size_t size, void *user)
{
	struct victim *victim = user;
	(void)is_stderr;
	(void)line;
	(void)size;
	if (--victim->records == 0)
		CU_ASSERT_EQUAL(process_signal(victim->process, SIGKILL, NULL), 0);
}

static void run_victim(const char *path, int records)
{
	char *program CLEANUP_FREE = NULL;
	struct victim victim = {.records = records};
	struct process_spec spec = {.on_line = kill_victim, .user = &victim};
	uv_loop_t loop;
	CU_ASSERT_EQUAL_FATAL(path_of_program(&program, NULL), 0);
	spec.argv = (const char *const[]){program, "write", path, NULL};
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	CU_ASSERT_EQUAL_FATAL(process_start(&loop, &spec, &victim.process, NULL), 0);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	process_free(victim.process);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
	CU_ASSERT_TRUE(victim.records <= 0);
}

static void test_killed_writer_leaves_a_readable_journal(void)
{
	for (int records = 1; records <= 10; records++) {
		char *path CLEANUP_FREE = text_format("%s/killed-%d", directory, records);
		cJSON *report CLEANUP_JSON = NULL;
		run_victim(path, records);
		report = render_file(path);
		CU_ASSERT_STRING_EQUAL(at(report, "/run/state"), "incomplete");
		CU_ASSERT_EQUAL(report_exit_code(report), REPORT_EXIT_INCOMPLETE);
		CU_ASSERT_TRUE(json_pointer(report, "/run/journal/records")->valueint >=
			       records + 2);
	}
}

struct fault {
	const char *journal;
	int code;
	const char *text;
};

#define HEAD "{\"seq\":1,\"atMs\":0,\"time\":\"t\"," LINE_RUN_BEGIN "}\n"

static void test_faults_name_the_line(void)
{
	static const struct fault faults[] = {
		{"", ERROR_FORMAT, "j:1: holds no complete record"},
		{"{\"seq\":1", ERROR_FORMAT, "j:1: holds no complete record"},
		{"\n", ERROR_FORMAT, "j:1: line 1, column 1: not valid JSON"},
		{"[]\n", ERROR_FORMAT, "j:1: expected object"},
		{"{\"atMs\":0}\n", ERROR_FORMAT, "j:1: seq: missing, expected number"},
		{HEAD "{}\n", ERROR_FORMAT, "j:2: seq: missing, expected number"},
		{HEAD "{\"seq\":3,\"atMs\":0,\"time\":\"t\",\"type\":\"run-end\"}\n", ERROR_FORMAT,
		 "j:2: seq: 3, expected 2"},
		{HEAD "{\"seq\":2,\"atMs\":0,\"time\":\"t\",\"type\":\"what\"}\n", ERROR_FORMAT,
		 "j:2: unknown type of record"},
		{HEAD "{\"seq\":2,\"atMs\":-1,\"time\":\"t\",\"type\":\"run-end\"}\n", ERROR_FORMAT,
		 "j:2: atMs: -1 is outside 0 to 9223372036854775807"},
		{"{\"seq\":1,\"atMs\":0,\"time\":\"t\",\"type\":\"run-end\"}\n", ERROR_FORMAT,
		 "j:1: type: a journal begins with one run-begin"},
		{HEAD "{\"seq\":2,\n", ERROR_FORMAT, "j:2: line 1, column 9: not valid JSON"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct journal_log log CLEANUP_JOURNAL_LOG = {0};
		struct error err = {0};
		const char *journal = faults[i].journal;
		CU_ASSERT_EQUAL(journal_parse("j", journal, strlen(journal), &log, &err),
				faults[i].code);
		CU_ASSERT_STRING_EQUAL(err.text, faults[i].text);
		if (strcmp(err.text, faults[i].text) != 0)
			(void)fprintf(stderr, "%zu: %s\n", i, err.text);
		CU_ASSERT_EQUAL(log.count, 0);
	}
}

static void test_long_line_is_refused_by_the_reader(void)
{
	struct text journal CLEANUP_TEXT = {0};
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	struct error err = {0};
	text_add(&journal, HEAD);
	for (int i = 0; i < JOURNAL_LINE_MAX / 8 + 1; i++)
		text_add(&journal, "        ");
	text_add(&journal, "\n");
	CU_ASSERT_EQUAL(journal_parse("j", journal.data, journal.size, &log, &err), ERROR_LIMIT);
	CU_ASSERT_STRING_EQUAL(err.text, "j:2: longer than 4194304 bytes");
}

int main(int argc, char **words)
{
	CU_TestInfo tests[] = {
		{"everything that is written is rendered", test_everything_written_is_rendered},
		{"a journal is never overwritten", test_journal_is_never_overwritten},
		{"a flood of assertions is bounded", test_flood_is_bounded},
		{"a line that is too long is refused", test_too_long_a_line_is_refused},
		{"each check has a share", test_each_check_has_a_share},
		{"malformed members are kept out", test_malformed_members_are_kept_out},
#ifndef _WIN32
		{"a full disk leaves no torn line", test_full_disk_leaves_no_torn_line},
#endif
		{"a killed writer leaves a readable journal",
		 test_killed_writer_leaves_a_readable_journal},
		{"faults name the line", test_faults_name_the_line},
		{"the reader bounds lines", test_long_line_is_refused_by_the_reader},
		CU_TEST_INFO_NULL,
	};
	if (argc == 3 && strcmp(words[1], "write") == 0)
		return write_until_killed(words[2]);
	return unit_run_in("journal", open_directory, close_directory, tests);
}
