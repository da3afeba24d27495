/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "reports/environment.h"
#include "reports/tests/cases.h"

#include <stdio.h>
#include <string.h>

/* Prints the first place at which two documents differ. */
static void print_difference(const cJSON *a, const cJSON *b, struct text *place)
{
	const cJSON *right = b != NULL ? b->child : NULL;
	const cJSON *left = a != NULL ? a->child : NULL;
	size_t size = place->size;
	for (; left != NULL; left = left->next) {
		const cJSON *same = right;
		if (cJSON_IsObject(a))
			same = cJSON_GetObjectItemCaseSensitive(b, left->string);
		if (!cJSON_Compare(left, same, true)) {
			text_addf(place, "/%s", left->string != NULL ? left->string : "*");
			print_difference(left, same, place);
			return;
		}
		right = right != NULL ? right->next : NULL;
	}
	(void)fprintf(stderr, "differs at %s\n", size != 0 ? text_string(place) : "/");
}

static void test_golden_reports(void)
{
	for (const char *const *name = golden_cases; *name != NULL; name++) {
		char *path CLEANUP_FREE = golden_path(*name, "reference.json");
		cJSON *reference CLEANUP_JSON = NULL;
		cJSON *report CLEANUP_JSON = golden_report(*name);
		struct text place CLEANUP_TEXT = {0};
		struct error err = {0};
		CU_ASSERT_EQUAL_FATAL(json_read_file(path, &reference, &err), 0);
		CU_ASSERT_PTR_NOT_NULL_FATAL(report);
		CU_ASSERT_TRUE(cJSON_Compare(report, reference, true));
		if (!cJSON_Compare(report, reference, true)) {
			(void)fprintf(stderr, "%s: ", *name);
			print_difference(report, reference, &place);
		}
	}
}

static void test_exit_codes(void)
{
	static const struct {
		const char *name;
		int code;
	} rows[] = {
		{"complete", 0}, {"killed", 4},	     {"killed-early", 4}, {"outcomes", 1},
		{"broken", 3},	 {"interrupted", 4}, {"hostile", 1},	  {"partial", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *report CLEANUP_JSON = golden_report(rows[i].name);
		CU_ASSERT_EQUAL(report_exit_code(report), rows[i].code);
	}
}

static void test_time_adds_up(void)
{
	cJSON *report CLEANUP_JSON = golden_report("complete");
	const cJSON *time = json_pointer(report, "/run/time");
	int64_t sum = 0;
	static const char *const parts[] = {"/criMs", "/probeMs", "/declaredWaitMs", "/otherMs"};
	CU_ASSERT_PTR_NOT_NULL_FATAL(time);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		sum += json_pointer(time, parts[i])->valueint;
	CU_ASSERT_EQUAL(sum, json_pointer(time, "/totalMs")->valueint);
	CU_ASSERT_EQUAL(json_pointer(time, "/totalMs")->valueint,
			json_pointer(report, "/run/durationMs")->valueint);
	CU_ASSERT_TRUE(json_pointer(time, "/overheadPercent")->valuedouble > 0);
}

#define LINE_PASS                                                                                  \
	"\"type\":\"check-end\",\"check\":\"a.one\",\"outcome\":\"pass\","                         \
	"\"reason\":\"\",\"durationMs\":1,\"phasesMs\":{}"

struct fault {
	const char *lines[8];
	const char *text;
};

static void test_faults_name_line_and_member(void)
{
	static const struct fault faults[] = {
		{{"\"type\":\"run-begin\",\"schema\":\"x\""},
		 "j:1: schema: expected \"gpucert-journal/2\""},
		{{"\"type\":\"run-begin\",\"schema\":\"gpucert-journal/2\",\"id\":\"r\","
		  "\"harness\":{},\"invocation\":{\"minRun\":0,\"conformanceRequired\":false}"},
		 "j:1: harness.version: missing, expected string"},
		{{LINE_RUN_BEGIN, LINE_BEGIN}, "j:2: check: no such check in the plan"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_PLAN}, "j:3: type: a second plan"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_END}, "j:3: check: has not begun"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN, LINE_BEGIN},
		 "j:4: check: begins a second time"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN, LINE_END, LINE_BEGIN},
		 "j:5: check: begins a second time"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN,
		  "\"type\":\"check-end\",\"check\":\"a.one\",\"outcome\":\"pass\","
		  "\"reason\":\"\",\"durationMs\":1,\"phasesMs\":{\"lunch\":1}"},
		 "j:4: phasesMs.lunch: unknown member"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN, LINE_END ",\"assertions\":[]"},
		 "j:4: assertions: unknown member"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN,
		  "\"type\":\"assertion\",\"check\":\"a.one\",\"what\":\"w\""},
		 "j:4: wanted: missing, expected string"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN,
		  "\"type\":\"note\",\"check\":\"a.one\",\"text\":1"},
		 "j:4: text: expected string"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN, LINE_END,
		  "\"type\":\"note\",\"check\":\"a.one\",\"text\":\"late\""},
		 "j:5: check: has not begun"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_HELD}, "j:3: cause: did not end badly"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN, LINE_END, LINE_HELD},
		 "j:5: cause: did not end badly"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN, LINE_FAIL, LINE_HELD, LINE_HELD},
		 "j:6: check: has a record of how it ended"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN, LINE_FAIL, LINE_HELD,
		  "\"type\":\"check-begin\",\"check\":\"a.two\",\"timeoutMs\":9"},
		 "j:6: check: is planned not to run"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN, LINE_PASS},
		 "j:4: outcome: a pass without an assertion"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_BEGIN, LINE_ASSERTION("true"),
		  LINE_ASSERTION("false"), LINE_PASS},
		 "j:6: outcome: a pass with an assertion that did not hold"},
		{{LINE_RUN_BEGIN, LINE_PLAN, LINE_ASSERTION("true")}, "j:3: check: has not begun"},
		{{LINE_RUN_BEGIN, "\"type\":\"run-end\"", "\"type\":\"run-end\""},
		 "j:3: type: a record behind run-end"},
		{{LINE_RUN_BEGIN, "\"type\":\"abort\",\"kind\":\"bored\",\"reason\":\"r\""},
		 "j:2: kind: expected \"interrupted\" or \"broken\""},
		{{LINE_RUN_BEGIN,
		  "\"type\":\"phase\",\"phase\":\"p\",\"what\":\"w\",\"durationMs\":1"},
		 "j:2: phase: expected \"setup\", \"cri\", \"probe\", \"plugin\", \"wait\" "
		 "or \"cleanup\""},
		{{LINE_RUN_BEGIN, "\"type\":\"environment\",\"environment\":{\"weather\":{}}"},
		 "j:2: environment.weather: unknown section"},
		{{LINE_RUN_BEGIN, "\"type\":\"environment\",\"environment\":{\"devices\":[{}]}"},
		 "j:2: environment.devices[0].ref: missing, expected string"},
		{{LINE_RUN_BEGIN, "\"type\":\"environment\",\"environment\":{\"os\":[]}"},
		 "j:2: environment.os: expected object"},
		{{LINE_RUN_BEGIN,
		  "\"type\":\"plan\"," LINE_SETTINGS "\"filteredOut\":0,\"requirements\":[],"
		  "\"checks\":[{\"id\":\"a\",\"revision\":1,\"requirement\":\"R\","
		  "\"severity\":\"low\",\"title\":\"t\",\"advice\":\"a\"}]"},
		 "j:2: checks[0].requirement: no such requirement in the plan"},
		{{LINE_RUN_BEGIN,
		  "\"type\":\"plan\"," LINE_SETTINGS "\"filteredOut\":0,\"requirements\":[],"
		  "\"checks\":[{\"id\":\"a\",\"revision\":1,\"severity\":\"dire\","
		  "\"title\":\"t\",\"advice\":\"a\"}]"},
		 "j:2: checks[0].severity: expected \"critical\", \"high\", \"medium\" "
		 "or \"low\""},
		{{LINE_RUN_BEGIN,
		  "\"type\":\"plan\"," LINE_SETTINGS
		  "\"filteredOut\":0,\"requirements\":[],\"checks\":["
		  "{\"id\":\"a\",\"revision\":1,\"severity\":\"low\",\"title\":\"t\",\"advice\":"
		  "\"a\"},"
		  "{\"id\":\"a\",\"revision\":1,\"severity\":\"low\",\"title\":\"t\",\"advice\":"
		  "\"a\"}]"},
		 "j:2: checks: 'a' is planned twice"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct error err = {0};
		cJSON *report CLEANUP_JSON = report_of_lines(faults[i].lines, &err);
		CU_ASSERT_PTR_NULL(report);
		CU_ASSERT_EQUAL(err.code, ERROR_FORMAT);
		CU_ASSERT_STRING_EQUAL(err.text, faults[i].text);
		if (strcmp(err.text, faults[i].text) != 0)
			(void)fprintf(stderr, "%zu: %s\n", i, err.text);
	}
}

static void test_held_check(void)
{
	static const char *const lines[] = {
		LINE_RUN_BEGIN,		LINE_PLAN, LINE_BEGIN, LINE_FAIL, LINE_HELD,
		"\"type\":\"run-end\"", NULL};
	struct error err = {0};
	cJSON *report CLEANUP_JSON = report_of_lines(lines, &err);
	const cJSON *held = json_pointer(report, "/checks/1");
	UNIT_NEED(held != NULL);
	CU_ASSERT_STRING_EQUAL(json_pointer(held, "/outcome")->valuestring, "notrun");
	CU_ASSERT_STRING_EQUAL(json_pointer(held, "/cause")->valuestring, "a.one");
	CU_ASSERT_STRING_EQUAL(json_pointer(held, "/reason")->valuestring, "a.one failed");
	CU_ASSERT_TRUE(cJSON_IsNull(json_pointer(held, "/time")));
	CU_ASSERT_PTR_NULL(json_pointer(report, "/checks/0/cause"));
	CU_ASSERT_EQUAL(report_exit_code(report), REPORT_EXIT_UNEXPECTED);
}

/* The same records, as of another kind of node. */
static void test_a_recorded_node_is_never_conformant(void)
{
	static const char *const kinds[] = {"live", "wine", "vm", "recorded"};
	char *path CLEANUP_FREE = golden_path("complete", JOURNAL_FILE_NAME);
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	struct error err = {0};
	UNIT_INT(journal_read(path, &log, &err), 0);
	cJSON *kind =
		(cJSON *)(uintptr_t)json_pointer(log.records[1].json, "/environment/node/kind");
	UNIT_NEED(kind != NULL);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cJSON *report CLEANUP_JSON = NULL;
		UNIT_NEED(cJSON_SetValuestring(kind, kinds[i]) != NULL);
		UNIT_INT(report_render(&log, &report, &err), 0);
		UNIT_STRING(json_pointer(report, "/verdict/conformance/result")->valuestring,
			    i < 3 ? "conformant" : "incomplete");
	}
}

static void digest_of(const char *json, char out[DIGEST_SIZE])
{
	cJSON *environment CLEANUP_JSON = cJSON_Parse(json);
	CU_ASSERT_PTR_NOT_NULL_FATAL(environment);
	environment_digest(environment, out);
}

static void test_digest_covers_identity_only(void)
{
	char one[DIGEST_SIZE] = "";
	char same[DIGEST_SIZE] = "";
	char other[DIGEST_SIZE] = "";
	digest_of("{\"os\":{\"kernel\":\"6.1\",\"hostName\":\"a\"},\"devices\":[{\"ref\":\"dev0\","
		  "\"hardwareId\":\"x\"},{\"ref\":\"dev1\",\"hardwareId\":\"y\"}]}",
		  one);
	digest_of("{\"devices\":[{\"hardwareId\":\"y\",\"ref\":\"dev0\"},{\"hardwareId\":\"x\"}],"
		  "\"os\":{\"hostName\":\"b\",\"kernel\":\"6.1\"}}",
		  same);
	digest_of("{\"devices\":[{\"hardwareId\":\"y\"},{\"hardwareId\":\"x\"}],"
		  "\"os\":{\"kernel\":\"6.2\"}}",
		  other);
	CU_ASSERT_STRING_EQUAL(one, same);
	CU_ASSERT_STRING_NOT_EQUAL(one, other);
	CU_ASSERT_EQUAL(strlen(one), DIGEST_SIZE - 1);
	CU_ASSERT_EQUAL(strncmp(one, "sha256:", 7), 0);
}

static bool pointer_matches(const char *rule, const char *pointer)
{
	while (*rule == '/' && *pointer == '/') {
		size_t size = strcspn(rule + 1, "/");
		size_t length = strcspn(pointer + 1, "/");
		if (!(size == 1 && rule[1] == '*') &&
		    (size != length || memcmp(rule, pointer, size + 1) != 0))
			return false;
		rule += size + 1;
		pointer += length + 1;
	}
	return *rule == '\0' && *pointer == '\0';
}

struct marks {
	const cJSON *root;
	bool used[64]; /* by the index of the volatile member */
	size_t count;
};

static void check_mark(struct marks *marks, const char *pointer, const cJSON *value)
{
	char *json CLEANUP_FREE = json_print_compact(value);
	marks->count++;
	for (size_t i = 0; volatile_members[i].pointer != NULL; i++) {
		if (!pointer_matches(volatile_members[i].pointer, pointer))
			continue;
		marks->used[i] = true;
		CU_ASSERT_STRING_EQUAL(json, volatile_members[i].value);
		return;
	}
	(void)fprintf(stderr, "%s is volatile in the schema only\n", pointer);
	CU_FAIL("a volatile member is not made reproducible");
}

/* Every x-volatile of the schema, found by the way that documents take. */
static void walk_schema(struct marks *marks, const cJSON *schema, const char *pointer)
{
	const char *ref = cJSON_GetStringValue(cJSON_GetObjectItem(schema, "$ref"));
	const cJSON *mark = cJSON_GetObjectItem(schema, "x-volatile");
	const cJSON *child = NULL;
	if (mark != NULL)
		check_mark(marks, pointer, mark);
	if (ref != NULL)
		walk_schema(marks, json_pointer(marks->root, ref + 1), pointer);
	cJSON_ArrayForEach (child, cJSON_GetObjectItem(schema, "anyOf")) {
		walk_schema(marks, child, pointer);
	}
	cJSON_ArrayForEach (child, cJSON_GetObjectItem(schema, "properties")) {
		char *below CLEANUP_FREE = text_format("%s/%s", pointer, child->string);
		walk_schema(marks, child, below);
	}
	child = cJSON_GetObjectItem(schema, "items");
	if (child != NULL) {
		char *below CLEANUP_FREE = text_format("%s/*", pointer);
		walk_schema(marks, child, below);
	}
}

static void test_schema_and_code_agree_on_what_is_volatile(void)
{
	cJSON *schema CLEANUP_JSON = NULL;
	struct marks marks = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(json_read_file(GPUCERT_SOURCE_DIR
					     "/reports/schema/report.schema.json",
					     &schema, &err),
			      0);
	marks.root = schema;
	walk_schema(&marks, schema, "");
	CU_ASSERT_TRUE(marks.count >= 20);
	for (size_t i = 0; volatile_members[i].pointer != NULL; i++) {
		if (!marks.used[i])
			(void)fprintf(stderr, "%s: not in the schema\n",
				      volatile_members[i].pointer);
		CU_ASSERT_TRUE(marks.used[i]);
	}
}

static void test_reproducible(void)
{
	cJSON *report CLEANUP_JSON = golden_report("complete");
	report_make_reproducible(report);
	CU_ASSERT_STRING_EQUAL(json_pointer(report, "/run/started")->valuestring,
			       "1970-01-01T00:00:00.000Z");
	CU_ASSERT_EQUAL(json_pointer(report, "/run/time/totalMs")->valueint, 0);
	CU_ASSERT_PTR_NULL(json_pointer(report, "/run/time/otherMs"));
	CU_ASSERT_EQUAL(json_pointer(report, "/checks/2/time/phasesMs/cri")->valueint, 0);
	CU_ASSERT_EQUAL(json_pointer(report, "/checks/2/evidence/1/bytes")->valueint, 0);
	CU_ASSERT_STRING_EQUAL(json_pointer(report, "/checks/2/outcome")->valuestring, "pass");
	CU_ASSERT_EQUAL(json_pointer(report, "/checks/2/time/timeoutMs")->valueint, 60000);
}

static void expect_string(const cJSON *report, const char *pointer, const char *wanted)
{
	UNIT_STRING(cJSON_GetStringValue(json_pointer(report, pointer)), wanted);
}

/* What earlier runs left on the machine differs from run to run. */
static void test_remains_of_others_are_left_out(void)
{
	cJSON *report = cJSON_Parse(
		"{\"run\": {\"events\": [{\"kind\": \"recovered\"}, {\"kind\": \"kept\", \"atMs\": 7},"
		"{\"kind\": \"left-behind\"}, {\"kind\": \"restored\"}]}}");
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	report_make_reproducible(report);
	UNIT_INT(cJSON_GetArraySize(json_pointer(report, "/run/events")), 1);
	expect_string(report, "/run/events/0/kind", "kept");
	cJSON_Delete(report);
}

/* What a run made up or measured is left out, also of the reasons that tell of it. */
static void test_what_varies_is_left_out(void)
{
	cJSON *complete CLEANUP_JSON = golden_report("complete");
	cJSON *outcomes CLEANUP_JSON = golden_report("outcomes");
	const cJSON *check = NULL;
	const cJSON *requirement = NULL;
	size_t found = 0;
	report_make_reproducible(complete);
	expect_string(complete, "/checks/0/assertions/0/saw", "42");
	expect_string(complete, "/checks/0/assertions/1/saw", "*");
	expect_string(complete, "/checks/0/assertions/1/wanted", "*");
	report_make_reproducible(outcomes);
	cJSON_ArrayForEach (check, json_pointer(outcomes, "/checks")) {
		if (strcmp(json_pointer(check, "/id")->valuestring, "isolation.no-allocation") != 0)
			continue;
		expect_string(check, "/reason", "/devices/count: got *, expected 0");
		found++;
	}
	cJSON_ArrayForEach (requirement, json_pointer(outcomes, "/requirements")) {
		if (strcmp(json_pointer(requirement, "/id")->valuestring, "ISO-01") != 0)
			continue;
		expect_string(requirement, "/reason",
			      "isolation.no-allocation (fail): /devices/count: got *, expected 0");
		found++;
	}
	UNIT_INT(found, 2);
}

/* A look that was shorter than a thorough one satisfies, and says so. */
static void test_what_was_watched_shortly_is_told(void)
{
	cJSON *report CLEANUP_JSON = golden_report("complete");
	UNIT_INT(json_pointer(report, "/checks/0/watched/ms")->valueint, 2000);
	expect_string(report, "/requirements/0/verdict", "satisfied");
	expect_string(report, "/requirements/0/reason",
		      "registration.in-time: watched for 2.0 s; a thorough run watches 60.0 s "
		      "(--thorough)");
}

static void test_directory(void)
{
	char *journal CLEANUP_FREE = golden_path("outcomes", JOURNAL_FILE_NAME);
	char *directory CLEANUP_FREE = NULL;
	char *copy CLEANUP_FREE = NULL;
	char *written CLEANUP_FREE = NULL;
	char *junit CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	cJSON *report CLEANUP_JSON = NULL;
	cJSON *read_back CLEANUP_JSON = NULL;
	struct error err = {0};
	size_t size = 0;
	CU_ASSERT_EQUAL_FATAL(
		file_make_temporary(GPUCERT_BINARY_DIR "/tests", "report-", &directory, &err), 0);
	copy = path_join(directory, JOURNAL_FILE_NAME);
	written = text_format("%s/report.json", directory);
	junit = text_format("%s/junit.xml", directory);
	CU_ASSERT_EQUAL(report_read_directory(directory, &report, &err), ERROR_NOT_FOUND);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, copy));
	CU_ASSERT_EQUAL_FATAL(file_read(journal, JOURNAL_SIZE_MAX, &data, &size, &err), 0);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(copy, data, size, 0644, &err), 0);
	CU_ASSERT_EQUAL_FATAL(report_read_directory(directory, &report, &err), 0);
	CU_ASSERT_EQUAL(report_exit_code(report), 1);
	CU_ASSERT_FALSE(file_exists(written)); /* reading needs no right to write */
	CU_ASSERT_EQUAL_FATAL(report_write_directory(directory, report, &err), 0);
	CU_ASSERT_EQUAL_FATAL(json_read_file(written, &read_back, &err), 0);
	CU_ASSERT_TRUE(cJSON_Compare(report, read_back, true));
	CU_ASSERT_TRUE(file_exists(junit));
	CU_ASSERT_EQUAL(file_remove_tree(directory, &err), 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"golden journals give their reports", test_golden_reports},
		{"golden journals give their exit codes", test_exit_codes},
		{"the time adds up", test_time_adds_up},
		{"faults name line and member", test_faults_name_line_and_member},
		{"a check that is held names its cause", test_held_check},
		{"a recorded node is never conformant", test_a_recorded_node_is_never_conformant},
		{"the environment's digest covers identity only", test_digest_covers_identity_only},
		{"schema and code agree on what is volatile",
		 test_schema_and_code_agree_on_what_is_volatile},
		{"reproducible reports hold fixed values", test_reproducible},
		{"what varies is left out", test_what_varies_is_left_out},
		{"the remains of others are left out", test_remains_of_others_are_left_out},
		{"what was watched shortly is told", test_what_was_watched_shortly_is_told},
		{"a folder is rendered", test_directory},
		CU_TEST_INFO_NULL,
	};
	return unit_run("render", tests);
}
