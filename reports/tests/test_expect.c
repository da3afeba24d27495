/* SPDX-License-Identifier: MIT */

/* Rows of expectation files: what is refused, which row is taken, and what follows for a report. */

#include "base/tests/unit.h"
#include "reports/expect/expectations.h"
#include "reports/tests/cases.h"

#include "base/cleanup.h"

#define ROW_END                                                                                    \
	"\"why\": \"w\", \"link\": \"l\", \"added\": \"2026-11-22\", \"seenWith\": \"s\", "        \
	"\"reviewBy\": \"2027-02-28\"}"
#define ROW(check, expect, match)                                                                  \
	"{\"check\": \"" check "\", \"expect\": \"" expect "\", \"match\": {" match "}, " ROW_END
#define FILE_OF(rows) "{\"schema\": \"gpucert-expectations/1\", \"rows\": [" rows "]}"

static int parse(const char *text, struct expectations *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	int rc = json_parse(text, strlen(text), &document, err);
	return rc == 0 ? expectations_parse("known", document, out, err) : rc;
}

static void test_refused(void)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{"[]", "object"},
		{"{\"schema\": \"gpucert-expectations/2\", \"rows\": []}",
		 "schema: expected \"gpucert-expectations/1\"; a newer version needs"},
		{FILE_OF("{}"), "rows[0]"},
		{FILE_OF(ROW("", "fail", "")), "rows[0].check: is empty"},
		{FILE_OF(ROW("registration.arrives", "fail", "")), "can never be expected to fail"},
		{FILE_OF(ROW("environment.devices", "flaky", "")), "everything depends on it"},
		{FILE_OF(ROW("a.b", "pass", "")), "rows[0].expect"},
		{FILE_OF("{\"check\": \"a.b\", \"reason\": \"\", \"expect\": \"fail\", \"match\": {}, " ROW_END),
		 "rows[0].reason: is empty"},
		{FILE_OF(ROW("a.b", "fail", "\"osbuild\": \"=1\"")), "osbuild"},
		{FILE_OF(ROW("a.b", "fail", "\"osBuild\": \"20348\"")), "is not a range"},
		{FILE_OF(ROW("a.b", "fail", "\"driverVersion\": \">=1 or 2\"")), "is not a range"},
		{FILE_OF("{\"check\": \"a.b\", \"expect\": \"fail\", \"match\": {}, \"why\": \"\", "
			 "\"link\": \"l\", \"added\": \"2026-11-22\", \"seenWith\": \"s\", "
			 "\"reviewBy\": \"2027-02-28\"}"),
		 "why: is empty"},
		{FILE_OF("{\"check\": \"a.b\", \"expect\": \"fail\", \"match\": {}, \"why\": \"w\", "
			 "\"link\": \"l\", \"added\": \"2026-11-22\", \"seenWith\": \"s\", "
			 "\"reviewBy\": \"soon\"}"),
		 "'soon' is not a day"},
		{FILE_OF("{\"check\": \"a.b\", \"expect\": \"fail\", \"match\": {}, \"why\": \"w\", "
			 "\"link\": \"l\", \"added\": \"2026-13-01\", \"seenWith\": \"s\", "
			 "\"reviewBy\": \"2027-02-28\"}"),
		 "'2026-13-01' is not a day"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct expectations known CLEANUP_EXPECTATIONS = {0};
		struct error err = {0};
		UNIT_INT(parse(rows[i].text, &known, &err), ERROR_FORMAT);
		UNIT_CONTAINS(err.text, rows[i].part);
	}
}

static const char windows[] =
	"{\"os\": {\"name\": \"windows\", \"build\": \"20348\", \"revision\": 1547}, \"drivers\": "
	"[{\"key\": \"a\", \"version\": \"9\"}, {\"key\": \"n\", \"version\": \"31.0.15.5222\"}], "
	"\"devices\": [{\"hardwareId\": \"PCI\\\\VEN_10DE&DEV_1EB8\", \"name\": \"Tesla T4\"}], "
	"\"runtime\": {\"name\": \"containerd\", \"version\": \"1.7.13\"}, \"node\": {\"kind\": "
	"\"live\"}}";
static const char debian[] = "{\"os\": {\"name\": \"linux\", \"kernel\": \"6.1.0-27-amd64\"}}";
static const char mesa[] = "{\"drivers\": [{\"key\": \"amdgpu\", \"version\": \"6.12.1\", "
			   "\"userMode\": \"Mesa 25.0.7-2+deb13u1\"}]}";

/* Which of the rows, counted from 1, is taken; 0: none; negative: an error. */
static int taken(const char *rows, const char *environment, struct error *err)
{
	struct expectations known CLEANUP_EXPECTATIONS = {0};
	cJSON *json CLEANUP_JSON = cJSON_Parse(environment);
	const struct expectation *row = NULL;
	CU_ASSERT_EQUAL_FATAL(parse(rows, &known, err), 0);
	int rc = expectations_find(&known, "a.b", 3, json, &row, err);
	return rc < 0 || row == NULL ? rc : row->entry[strlen("known#")] - '0';
}

static void test_matches(void)
{
	static const struct {
		const char *rows, *environment;
		int taken;
	} rows[] = {
		{FILE_OF(""), windows, 0},
		{FILE_OF(ROW("a.b", "fail", "")), windows, 1},
		{FILE_OF(ROW("a.c", "fail", "")), windows, 0},
		{FILE_OF(ROW("a.b", "fail", "\"os\": \"linux\"")), windows, 0},
		{FILE_OF(ROW("a.b", "fail", "\"osBuild\": \">=20348 <20349\"")), windows, 1},
		{FILE_OF(ROW("a.b", "fail", "\"osBuild\": \">20348.1547\"")), windows, 0},
		{FILE_OF(ROW("a.b", "fail", "\"osBuild\": \">=6.1 <6.2\"")), debian, 1},
		{FILE_OF(ROW("a.b", "fail",
			     "\"driver\": \"n\", \"driverVersion\": \">=31.0.15.5100\"")),
		 windows, 1},
		{FILE_OF(ROW("a.b", "fail",
			     "\"driver\": \"a\", \"driverVersion\": \">=31.0.15.5100\"")),
		 windows, 0},
		{FILE_OF(ROW("a.b", "fail", "\"driverVersion\": \"<10\"")), windows, 1},
		{FILE_OF(ROW("a.b", "fail", "\"driverVersion\": \"!=1\"")), debian, 0},
		{FILE_OF(ROW("a.b", "fail", "\"driver\": \"Mesa\", \"driverVersion\": \"<25.1\"")),
		 mesa, 1},
		{FILE_OF(ROW("a.b", "fail", "\"driver\": \"Mesa\", \"driverVersion\": \"<25\"")),
		 mesa, 0},
		{FILE_OF(ROW("a.b", "fail", "\"driver\": \"amdgpu\", \"driverVersion\": \"<25\"")),
		 mesa, 1},
		{FILE_OF(ROW("a.b", "fail", "\"driver\": \"Mes\"")), mesa, 0},
		{FILE_OF(ROW("a.b", "fail", "\"device\": \"PCI\\\\VEN_10DE*\"")), windows, 1},
		{FILE_OF(ROW("a.b", "fail", "\"device\": \"Tesla*\"")), windows, 1},
		{FILE_OF(ROW("a.b", "fail", "\"device\": \"Quadro*\"")), windows, 0},
		{FILE_OF(ROW("a.b", "fail",
			     "\"runtime\": \"containerd\", \"runtimeVersion\": \"<2\"")),
		 windows, 1},
		{FILE_OF(ROW("a.b", "fail", "\"runtimeVersion\": \">=2\"")), windows, 0},
		{FILE_OF(ROW("a.b", "fail", "\"node\": \"recorded\"")), windows, 0},
		{FILE_OF(ROW("a.b", "fail", "") ", " ROW("a.b", "crash", "\"os\": \"windows\"")),
		 windows, 2},
		{FILE_OF(ROW("a.b", "fail", "\"os\": \"windows\", \"driver\": \"n\"") ", " ROW(
			 "a.b", "crash", "\"os\": \"windows\"")),
		 windows, 1},
		{FILE_OF(ROW("a.b", "fail", "\"driver\": \"n\"") ", " ROW("a.b", "crash",
									  "\"os\": \"windows\"")),
		 windows, ERROR_FORMAT},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = {0};
		UNIT_INT(taken(rows[i].rows, rows[i].environment, &err), rows[i].taken);
		if (rows[i].taken < 0)
			UNIT_STRING(err.text,
				    "known#1 and known#2 both match a.b, and neither asks for "
				    "more: make one of them more specific");
	}
}

static void test_days(void)
{
	static const struct {
		const char *today;
		long overdue;
	} rows[] = {{"2027-02-28", 0},	 {"2027-02-27T23:59:59.999Z", -1},
		    {"2027-03-01", 1},	 {"2028-02-28", 365},
		    {"2028-03-01", 367}, {"2026-11-22", -98}};
	struct expectations known CLEANUP_EXPECTATIONS = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(parse(FILE_OF(ROW("a.b", "flaky", "")), &known, &err), 0);
	CU_ASSERT_EQUAL(expectation_known(&known.rows[0]).outcome, REPORT_FAIL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_INT(expectation_overdue(&known.rows[0], rows[i].today), rows[i].overdue);
}

#define PLAN_OF(budget, expected)                                                                  \
	"\"type\":\"plan\"," LINE_SETTINGS "\"filteredOut\":0," budget "\"requirements\":[],"      \
	"\"checks\":[{\"id\":\"a.one\",\"revision\":1,\"severity\":\"high\",\"title\":\"t\","      \
	"\"advice\":\"a\",\"expected\":" expected "}]"
#define PLAN_AT(level)                                                                             \
	"\"type\":\"plan\"," LINE_SETTINGS "\"filteredOut\":0,\"requirements\":[{\"id\":\"R-1\","  \
	"\"level\":\"" level                                                                       \
	"\",\"sentence\":\"s\",\"source\":\"s\"}],\"checks\":[{\"id\":\"a.one\","                  \
	"\"revision\":1,\"requirement\":\"R-1\",\"severity\":\"high\",\"title\":\"t\","            \
	"\"advice\":\"a\"}]"
#define CRASHED                                                                                    \
	"\"type\":\"check-end\",\"check\":\"a.one\",\"outcome\":\"crash\",\"reason\":\"signal 11\",\"durationMs\":1,\"phasesMs\":{}"
#define FLAKY "{\"outcome\":\"fail\",\"entry\":\"known#1\",\"flaky\":true,\"why\":\"it leaks\"}"
#define FAILS_SO(reason)                                                                           \
	"{\"outcome\":\"fail\",\"entry\":\"known#4\",\"reason\":\"" reason "\",\"why\":\"w\"}"
#define LEAKS_SO(reason)                                                                           \
	"{\"outcome\":\"fail\",\"entry\":\"known#5\",\"flaky\":true,\"reason\":\"" reason          \
	"\",\"why\":\"w\"}"
#define PASSED                                                                                     \
	"\"type\":\"check-end\",\"check\":\"a.one\",\"outcome\":\"pass\",\"reason\":\"\","         \
	"\"durationMs\":1,\"phasesMs\":{}"

/* One check, and what follows from how it ended. */
static void test_dispositions(void)
{
	static const struct {
		const char *plan, *ended, *disposition, *line;
	} rows[] = {
		{PLAN_OF("\"flakeBudget\":1,", FLAKY), LINE_FAIL, "expected-fail", NULL},
		{PLAN_OF("\"flakeBudget\":1,", FLAKY), PASSED, "as-expected", NULL},
		{PLAN_OF("\"flakeBudget\":0,", FLAKY), LINE_FAIL, "unexpected-fail", NULL},
		{PLAN_OF("", FLAKY), LINE_FAIL, "unexpected-fail", NULL},
		{PLAN_OF("", FAILS_SO("got ?, expected b")), LINE_FAIL, "expected-fail", NULL},
		{PLAN_OF("", FAILS_SO("got z*")), LINE_FAIL, "unexpected-fail", NULL},
		{PLAN_OF("", FAILS_SO("got z*")), PASSED, "unexpected-improvement", "FIXED"},
		{PLAN_OF("\"flakeBudget\":1,", LEAKS_SO("*a*")), LINE_FAIL, "expected-fail", NULL},
		{PLAN_OF("\"flakeBudget\":1,", LEAKS_SO("*z*")), LINE_FAIL, "unexpected-fail",
		 NULL},
		{PLAN_OF("\"flakeBudget\":1,", LEAKS_SO("*z*")), PASSED, "as-expected", NULL},
		{PLAN_OF("",
			 "{\"outcome\":\"fail\",\"entry\":\"known#2\",\"why\":\"it \\u001bleaks\"}"),
		 PASSED, "unexpected-improvement",
		 "FIXED      a.one passes now: remove the expectation known#2; it was expected because: "
		 "it \\x1bleaks\n"},
		{PLAN_OF("", "{\"outcome\":\"crash\",\"entry\":\"known#3\",\"why\":\"w\"}"),
		 LINE_FAIL, "unexpected-improvement",
		 "FIXED      a.one ends better now: remove the expectation known#3"},
		{PLAN_AT("may"), LINE_FAIL, "expected-fail", NULL},
		{PLAN_AT("may"), PASSED, "as-expected", NULL},
		{PLAN_AT("may"), CRASHED, "unexpected-fail", NULL},
		{PLAN_AT("should"), LINE_FAIL, "unexpected-fail", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *const lines[] = {LINE_RUN_BEGIN,
					     rows[i].plan,
					     LINE_BEGIN,
					     strcmp(rows[i].ended, PASSED) == 0
						     ? LINE_ASSERTION("true")
						     : LINE_ASSERTION("false"),
					     rows[i].ended,
					     "\"type\":\"run-end\"",
					     NULL};
		const struct writer_options options = {0};
		struct error err = {0};
		char *summary CLEANUP_FREE = NULL;
		cJSON *report CLEANUP_JSON = report_of_lines(lines, &err);
		UNIT_STRING(err.text, "");
		UNIT_STRING(json_pointer_string(report, "/checks/0/disposition"),
			    rows[i].disposition);
		CU_ASSERT_EQUAL_FATAL(
			writer_print(writer_find("summary"), report, &options, &summary, &err), 0);
		const char *first = rows[i].line != NULL ? rows[i].line : "FIXED";
		CU_ASSERT_EQUAL(text_starts_with(summary, first), rows[i].line != NULL);
	}
}

/* What a summary says of a failure that is known, and of one that is less bad than it was. */
static void test_sentences(void)
{
	static const struct {
		const char *plan, *sentence;
	} rows[] = {
		{PLAN_OF("", "{\"outcome\":\"crash\",\"entry\":\"known#3\"}"),
		 "\nfail       a.one, better than expected, remove the expectation known#3: got a, expected "
		 "b\n"},
		{PLAN_OF("", FAILS_SO("got ?, expected b")),
		 "\nknown      1 failure is expected by known#4\n"},
		{PLAN_AT("may"), "\nknown      1 failure is expected by its level, may\n"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *const lines[] = {
			LINE_RUN_BEGIN, rows[i].plan,		LINE_BEGIN, LINE_ASSERTION("false"),
			LINE_FAIL,	"\"type\":\"run-end\"", NULL};
		const struct writer_options options = {0};
		struct error err = {0};
		char *summary CLEANUP_FREE = NULL;
		cJSON *report CLEANUP_JSON = report_of_lines(lines, &err);
		UNIT_STRING(err.text, "");
		CU_ASSERT_EQUAL_FATAL(
			writer_print(writer_find("summary"), report, &options, &summary, &err), 0);
		UNIT_CONTAINS(summary, rows[i].sentence);
	}
}

UNIT_MAIN("expectations", {"refused", test_refused}, {"matches", test_matches}, {"days", test_days},
	  {"dispositions", test_dispositions}, {"sentences", test_sentences})
