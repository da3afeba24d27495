/* SPDX-License-Identifier: MIT */

/* Reports and journals that are broken, hostile or no files at all: each has a named end, and what can be kept is kept. */

#include "base/schema.h"
#include "base/tests/unit.h"
#include "reports/expect/expectations.h"
#include "reports/journal.h"
#include "reports/pages/compare/compare.h"
#include "reports/report_file.h"
#include "reports/tests/cases.h"
#include "reports/view.h"
#include "reports/writer.h"

#include "base/file.h"
#include "base/path.h"

#include <string.h>
#ifndef _WIN32
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static char *directory;

static char *below(const char *name)
{
	return path_join(directory, name);
}

static void write_file(const char *name, const char *data, size_t size)
{
	char *path CLEANUP_FREE = below(name);
	char *parent CLEANUP_FREE = path_directory(path);
	UNIT_INT(file_make_directories(parent, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(path, data, size, 0644, NULL), 0);
}

static void expect_error(const char *name, int rc, const char *says)
{
	char *path CLEANUP_FREE = below(name);
	cJSON *report CLEANUP_JSON = NULL;
	struct error err = {0};
	UNIT_INT(report_file_read(path, NULL, &report, &err), rc);
	CU_ASSERT_PTR_NULL(report);
	UNIT_CONTAINS(err.text, says);
	UNIT_CONTAINS(err.text, name);
}

static void refuse(const char *text, int rc, const char *says)
{
	write_file("report.json", text, strlen(text));
	expect_error("report.json", rc, says);
}

#define REPORT "{\"schema\": \"gpucert-report/2\", "

static void test_hostile_texts(void)
{
	struct text deep CLEANUP_TEXT = {0};
	for (int i = 0; i < 100; i++)
		text_add(&deep, "[");
	refuse("", ERROR_FORMAT, "line 1, column 1");
	refuse(text_string(&deep), ERROR_LIMIT, "nested deeper than 64 levels");
	refuse(REPORT "\"a\": \"\\u0000\"}", ERROR_FORMAT, "NUL character");
	refuse(REPORT "\"a\": \"\xff\"}", ERROR_FORMAT, "UTF-8");
	refuse(REPORT "\"a\": 1e999}", ERROR_FORMAT, "out of range");
	refuse(REPORT "\"checks\": []}<script>", ERROR_FORMAT, "not valid JSON");
	refuse(REPORT
	       "\"checks\": [{\"id\": \"a\", \"outcome\": \"fail\", \"outcome\": \"pass\"}]}",
	       ERROR_FORMAT, "checks[0].outcome: appears twice");
	refuse(REPORT "\"schema\": \"gpucert-report/1\"}", ERROR_FORMAT, "schema: appears twice");
}

static void test_versions(void)
{
	static const struct {
		const char *value;
		int rc;
		const char *says;
	} rows[] = {
		{"\"gpucert-x/12\"", 0, ""},
		{"\"gpucert-x/11\"", ERROR_UNSUPPORTED, "older gpucert"},
		{"\"gpucert-x/13\"", ERROR_UNSUPPORTED, "newer gpucert"},
		{"\"gpucert-x/13\"", ERROR_UNSUPPORTED, "update gpucert"},
		{"\"gpucert-x/012\"", ERROR_FORMAT, "schema: expected \"gpucert-x/12\""},
		{"\"gpucert-x/12 \"", ERROR_FORMAT, "expected"},
		{"\"gpucert-x/0\"", ERROR_FORMAT, "expected"},
		{"\"gpucert-x/\"", ERROR_FORMAT, "expected"},
		{"\"gpucert-x/99999999999999999999\"", ERROR_FORMAT, "expected"},
		{"\"gpucert-y/12\"", ERROR_FORMAT, "expected"},
		{"12", ERROR_FORMAT, "expected string"},
		{"null", ERROR_FORMAT, "missing"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text CLEANUP_FREE = text_format("{\"schema\": %s}", rows[i].value);
		cJSON *document CLEANUP_JSON = cJSON_Parse(text);
		struct error err = {0};
		UNIT_INT(schema_check(document, "gpucert-x/12", &err), rows[i].rc);
		UNIT_CONTAINS(err.text, rows[i].says);
	}
	refuse("{\"schema\": \"gpucert-report/1\"}", ERROR_UNSUPPORTED, "older gpucert");
}

static void refuse_journal(const char *text, int rc, const char *says)
{
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	struct error err = {0};
	UNIT_INT(journal_parse("j", text, strlen(text), &log, &err), rc);
	UNIT_CONTAINS(err.text, says);
}

static void test_journal_versions(void)
{
#define HEAD "{\"seq\":1,\"atMs\":0,\"time\":\"t\",\"type\":\"run-begin\",\"schema\":"
	refuse_journal(HEAD "\"gpucert-journal/3\"}\n", ERROR_UNSUPPORTED,
		       "j:1: schema: gpucert-journal/3 was written by a newer gpucert");
	refuse_journal(HEAD "\"gpucert-journal/1\"}\n", ERROR_UNSUPPORTED, "older gpucert");
	refuse_journal(HEAD "\"gpucert-report/2\"}\n", ERROR_FORMAT,
		       "j:1: schema: expected \"gpucert-journal/2\"");
}

/* An object of many members is asked for repeated ones, too. */
static void test_repeated_among_many(void)
{
	struct text text CLEANUP_TEXT = {0};
	text_add(&text, REPORT);
	for (int i = 0; i < 1000; i++)
		text_addf(&text, "\"m%d\": [%d], ", i, i);
	const size_t size = text.size;
	text_add(&text, "\"checks\": []}");
	write_file("report.json", text.data, text.size);
	char *path CLEANUP_FREE = below("report.json");
	cJSON *report CLEANUP_JSON = NULL;
	UNIT_INT(report_file_read(path, NULL, &report, NULL), 0);
	text.data[size] = '\0';
	text.size = size;
	text_add(&text, "\"m17\": 0}");
	refuse(text_string(&text), ERROR_FORMAT, "m17: appears twice");
}

static void test_repeated_elsewhere(void)
{
	static const char *const lines[] = {LINE_RUN_BEGIN ",\"id\":\"other\"", NULL};
	struct expectations known CLEANUP_EXPECTATIONS = {0};
	cJSON *document CLEANUP_JSON =
		cJSON_Parse("{\"schema\": \"gpucert-expectations/1\", \"rows\": [], \"rows\": []}");
	struct error err = {0};
	CU_ASSERT_PTR_NULL(report_of_lines(lines, &err));
	UNIT_STRING(err.text, "j:1: id: appears twice");
	UNIT_INT(expectations_parse("known", document, &known, &err), ERROR_FORMAT);
	UNIT_STRING(err.text, "rows: appears twice");
}

/* Small in bytes, large in memory. */
static void test_many_values(void)
{
	const size_t size = 2 * JSON_VALUES_MAX + 3;
	char *text CLEANUP_FREE = malloc(size);
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	struct error err = {0};
	UNIT_NEED(text != NULL);
	for (size_t i = 0; i < size; i++)
		text[i] = i % 2 == 0 ? '0' : ',';
	text[0] = '[';
	text[size - 1] = ']';
	write_file("report.json", text, size);
	expect_error("report.json", ERROR_LIMIT, "holds more than 4000000 values");
	UNIT_INT(journal_parse("j", text, size, &log, &err), ERROR_LIMIT);
	UNIT_STRING(err.text, "j: holds more than 4000000 values");
}

/* A file of which every beginning is tried. */
static char *read_golden(const char *name, const char *file, size_t *size)
{
	char *path CLEANUP_FREE = golden_path(name, file);
	char *data = NULL;
	CU_ASSERT_EQUAL_FATAL(file_read(path, JSON_FILE_MAX, &data, size, NULL), 0);
	return data;
}

static void test_truncated_report(void)
{
	size_t size = 0;
	char *data CLEANUP_FREE = read_golden("killed-early", "reference.json", &size);
	for (size_t cut = 0; cut < size; cut++) {
		cJSON *report CLEANUP_JSON = NULL;
		struct error err = {0};
		/* Without the last line feed it is whole. */
		const int wanted = cut == size - 1 ? 0 : ERROR_FORMAT;
		if (report_parse(data, cut, NULL, &report, &err) != wanted)
			UNIT_INT(cut, -1);
		if (wanted != 0 && !text_starts_with(err.text, "line "))
			UNIT_STRING(err.text, "line ");
	}
}

/* Of a journal the complete lines are kept: it renders from its first line on, and says what is missing. */
static void test_truncated_journal(void)
{
	size_t size = 0;
	char *data CLEANUP_FREE = read_golden("killed", JOURNAL_FILE_NAME, &size);
	const size_t first = (size_t)((char *)memchr(data, '\n', size) - data) + 1;
	size_t lines = 0;
	for (size_t cut = 0; cut <= size; cut++) {
		struct journal_log log CLEANUP_JOURNAL_LOG = {0};
		cJSON *report CLEANUP_JSON = NULL;
		struct error err = {0};
		lines += cut > 0 && data[cut - 1] == '\n';
		int rc = journal_parse("j", data, cut, &log, &err);
		if (cut < first) {
			UNIT_INT(rc, ERROR_FORMAT);
			UNIT_CONTAINS(err.text, "no complete record");
			continue;
		}
		rc = rc == 0 ? report_render(&log, &report, &err) : rc;
		if (rc != 0 || log.torn != (data[cut - 1] != '\n') ||
		    view_int(report, "/run/journal/records") != (int64_t)lines ||
		    strcmp(view_string(report, "/run/state"), "incomplete") != 0)
			UNIT_INT(cut, -1);
	}
}

/* Numbers that no program wrote. */
static void test_numbers(void)
{
	static const struct {
		const char *json;
		int64_t number, duration;
	} rows[] = {
		{"1e300", 9007199254740992, 9007199254740992},
		{"-1e300", -9007199254740992, 0},
		{"-5", -5, 0},
		{"7.9", 7, 7},
		{"\"7\"", 0, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *json CLEANUP_FREE = text_format("{\"n\": %s}", rows[i].json);
		cJSON *report CLEANUP_JSON = cJSON_Parse(json);
		UNIT_INT(view_int(report, "/n"), rows[i].number);
		UNIT_INT(view_duration(report, "/n"), rows[i].duration);
	}
}

/* The machine's clock was set back by an hour; the other one, which never is, was too. */
static void test_clocks(void)
{
	static const char journal[] =
		"{\"seq\":1,\"atMs\":0,\"time\":\"2026-11-23T03:00:00.000Z\"," LINE_RUN_BEGIN "}\n"
		"{\"seq\":2,\"atMs\":5,\"time\":\"2026-11-23T03:00:00.005Z\"," LINE_PLAN "}\n"
		"{\"seq\":3,\"atMs\":900,\"time\":\"2026-11-23T02:00:00.900Z\"," LINE_BEGIN "}\n"
		"{\"seq\":4,\"atMs\":700,\"time\":\"2026-11-23T02:00:00.900Z\",\"type\":\"event\","
		"\"check\":null,\"kind\":\"k\",\"text\":\"t\"}\n";
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	cJSON *report CLEANUP_JSON = NULL;
	UNIT_INT(journal_parse("j", journal, strlen(journal), &log, NULL), 0);
	UNIT_INT(report_render(&log, &report, NULL), 0);
	UNIT_STRING(view_string(report, "/run/events/1/kind"), REPORT_CLOCK_SET_BACK);
	UNIT_STRING(view_string(report, "/run/events/1/text"),
		    "the clock was set back, 2 times: first from 2026-11-23T03:00:00.005Z to "
		    "2026-11-23T02:00:00.900Z, in line 3 of the journal");
	UNIT_STRING(view_string(report, "/checks/0/outcome"), "crash");
	UNIT_INT(json_pointer_number(report, "/checks/0/time/durationMs"), 0);
	UNIT_INT(json_pointer_number(report, "/run/durationMs"), 700);
	report_make_reproducible(report);
	CU_ASSERT_PTR_NULL(json_pointer(report, "/run/events/1"));
}

#ifndef _WIN32

/* As large as it says, of which nothing is read. */
static void make_sparse(const char *name, off_t size)
{
	char *path CLEANUP_FREE = below(name);
	write_file(name, "{", 1);
	UNIT_INT(truncate(path, size), 0);
}

static void test_large_files(void)
{
	enum { MEBIBYTES = 500 };
	make_sparse("large/report.json", (off_t)MEBIBYTES << 20);
	make_sparse("run/journal.ndjson", (off_t)MEBIBYTES << 20);
	expect_error("large/report.json", ERROR_LIMIT, "longer than 67108864 bytes");
	expect_error("large", ERROR_LIMIT, "report.json: longer than 67108864 bytes");
	expect_error("run", ERROR_LIMIT, "journal.ndjson: longer than 67108864 bytes");
}

static void make_link(const char *to, const char *name)
{
	char *path CLEANUP_FREE = below(name);
	char *parent CLEANUP_FREE = path_directory(path);
	UNIT_INT(file_make_directories(parent, 0755, NULL), 0);
	UNIT_INT(symlink(to, path), 0);
}

/* A folder holds its files itself; whoever names a link means what it leads to. */
static void test_links(void)
{
	static const char text[] = REPORT "\"checks\": []}";
	char *path CLEANUP_FREE = below("linked/report.json");
	cJSON *report CLEANUP_JSON = NULL;
	write_file("elsewhere.json", text, strlen(text));
	make_link("../elsewhere.json", "linked/report.json");
	make_link("nowhere", "dangling/report.json");
	make_link("../run/journal.ndjson", "journal/journal.ndjson");
	make_link("report.json", "circle/report.json");
	make_link(".", "loop");
	expect_error("linked", ERROR_FORMAT, "report.json: a link, which is not followed");
	expect_error("dangling", ERROR_FORMAT, "report.json: a link");
	expect_error("journal", ERROR_FORMAT, "journal.ndjson: a link");
	expect_error("circle/report.json", ERROR_IO, "circle/report.json: ");
	expect_error("loop/loop/nothing", ERROR_NOT_FOUND, "nothing");
	UNIT_INT(report_file_read(path, NULL, &report, NULL), 0);
}

/* Nothing waits for a pipe that nobody writes, or opens a device. */
static void test_not_files(void)
{
	char *pipe CLEANUP_FREE = below("pipe/report.json");
	char *journal CLEANUP_FREE = below("pipe-2/journal.ndjson");
	write_file("pipe/x", "", 0);
	write_file("pipe-2/x", "", 0);
	UNIT_INT(mkfifo(pipe, 0644), 0);
	UNIT_INT(mkfifo(journal, 0644), 0);
	expect_error("pipe", ERROR_FORMAT, "report.json: a pipe or a device, not a file");
	expect_error("pipe/report.json", ERROR_FORMAT, "a pipe or a device");
	expect_error("pipe-2", ERROR_FORMAT, "journal.ndjson: a pipe or a device");
	cJSON *report CLEANUP_JSON = NULL;
	UNIT_INT(report_file_read("/dev/zero", NULL, &report, NULL), ERROR_FORMAT);
	write_file("folder/report.json/x", "", 0);
	expect_error("folder", ERROR_FORMAT, "report.json: a folder, not a file");
}

/* The superuser may read everything, so another user tries. 0: it was told so. */
static int try_as_nobody(const char *path)
{
	enum { NOBODY = 65534 };
	cJSON *report CLEANUP_JSON = NULL;
	struct error err = {0};
	if (geteuid() == 0 && setuid(NOBODY) != 0)
		return 2;
	return report_file_read(path, NULL, &report, &err) == ERROR_PERMISSION &&
			       strstr(err.text, "closed") != NULL
		       ? 0
		       : 1;
}

static void test_closed_folder(void)
{
	char *path CLEANUP_FREE = below("closed");
	int status = -1;
	write_file("closed/report.json", "{}", 2);
	UNIT_INT(chmod(directory, 0755), 0);
	UNIT_INT(chmod(path, 0), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(try_as_nobody(path));
	UNIT_INT(waitpid(child, &status, 0), child);
	UNIT_INT(status, 0);
	UNIT_INT(chmod(path, 0755), 0);
}
#endif

/* Nothing is read behind the end of an id that names no suite (which the sanitizers see). */
static void test_names_without_suite(void)
{
	static const char json[] =
		REPORT "\"checks\": [{\"id\": \"a\", \"outcome\": \"pass\", "
		       "\"deviceOutcomes\": [{\"ref\": \"d\", \"outcome\": \"pass\"}]}]}";
	const struct writer_options options = {0};
	cJSON *report CLEANUP_JSON = cJSON_Parse(json);
	char *summary CLEANUP_FREE = NULL;
	UNIT_INT(writer_print(writer_find("summary"), report, &options, &summary, NULL), 0);
	UNIT_CONTAINS(summary, "\napis       a on d\n");
}

static void test_too_many_checks(void)
{
	struct text text CLEANUP_TEXT = {0};
	struct view view CLEANUP_VIEW = {0};
	struct error err = {0};
	text_add(&text, "{\"checks\": [{}");
	for (int i = 0; i < VIEW_CHECKS_MAX; i++)
		text_add(&text, ",{}");
	text_add(&text, "]}");
	cJSON *report CLEANUP_JSON = cJSON_Parse(text_string(&text));
	UNIT_INT(view_open(report, &view, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "checks: more than 20000");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"hostile texts", test_hostile_texts},
		{"repeated among many", test_repeated_among_many},
		{"repeated elsewhere", test_repeated_elsewhere},
		{"many values", test_many_values},
		{"truncated report", test_truncated_report},
		{"truncated journal", test_truncated_journal},
		{"numbers", test_numbers},
		{"clocks", test_clocks},
		{"versions", test_versions},
		{"versions of journals", test_journal_versions},
		{"too many checks", test_too_many_checks},
		{"names without a suite", test_names_without_suite},
#ifndef _WIN32
		{"large files", test_large_files},
		{"links", test_links},
		{"not files", test_not_files},
		{"closed folder", test_closed_folder},
#endif
		CU_TEST_INFO_NULL,
	};
	int rc = 0;
	if (file_make_temporary(GPUCERT_BINARY_DIR "/tests", "bad-input-", &directory, NULL) < 0)
		return 1;
	rc = unit_run("bad input", tests);
	(void)file_remove_tree(directory, NULL);
	free(directory);
	return rc;
}
