/* SPDX-License-Identifier: MIT */

/* Folders of small reports, as one table. */

#include "base/tests/unit.h"
#include "reports/pages/matrix/matrix.h"
#include "reports/report_files.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"

#ifndef _WIN32
#include <sys/stat.h>
#endif
#include <unistd.h>

#define FOLDER GPUCERT_BINARY_DIR "/tests/matrix"

/* How the check api.x ended, as a whole and on the devices "d0" and "d1", which have the first and the second
 * driver. */
struct small {
	const char *folder, *run, *node, *build;
	const char *drivers[2], *versions[2];
	bool software[2];
	const char *outcome, *outcomes[2];
};

static const struct writer_options plain = {0};

static const struct small reports[] = {
	{"1", "1", "live", "20348", {"n"}, {"552.12"}, {false}, "pass", {NULL}},
	{"2", "2", "live", "20348", {"n"}, {"552.12"}, {false}, "fail", {NULL}},
	{"3",
	 "3",
	 "live",
	 "20348",
	 {"n", "s"},
	 {"552.9", "1"},
	 {false, true},
	 "fail",
	 {"pass", "fail"}},
	{"4/deep",
	 "4",
	 "live",
	 "9600",
	 {"n", "a"},
	 {"552.12", "7"},
	 {false},
	 "fail",
	 {"fail", "pass"}},
	{"5", "5", "recorded", "9600", {"s"}, {"1"}, {true}, "crash", {NULL}},
	{"1/copy", "1", "live", "20348", {"n"}, {"552.12"}, {false}, "pass", {NULL}},
};

static void add_drivers(const struct small *small, struct text *json)
{
	for (size_t i = 0; i < 2 && small->drivers[i] != NULL; i++)
		text_addf(json, "%s{\"key\": \"%s\", \"version\": \"%s\", \"software\": %s}",
			  i > 0 ? ", " : "", small->drivers[i], small->versions[i],
			  small->software[i] ? "true" : "false");
	text_add(json, "], \"devices\": [");
	for (size_t i = 0; i < 2 && small->drivers[i] != NULL; i++)
		text_addf(json, "%s{\"ref\": \"d%zu\", \"driver\": \"%s\"}", i > 0 ? ", " : "", i,
			  small->drivers[i]);
}

static void write_report(const struct small *small)
{
	char *folder CLEANUP_FREE = text_format(FOLDER "/%s", small->folder);
	char *path CLEANUP_FREE = text_format("%s/report.json", folder);
	struct text json CLEANUP_TEXT = {0};
	text_addf(
		&json,
		"{\"schema\": \"gpucert-report/2\", \"run\": {\"journal\": {\"digest\": \"%s\"}}, "
		"\"environment\": {\"node\": {\"kind\": \"%s\"}, \"os\": {\"product\": \"W\", "
		"\"build\": \"%s\", \"revision\": 1}, \"drivers\": [",
		small->run, small->node, small->build);
	add_drivers(small, &json);
	text_addf(&json,
		  "]}, \"checks\": [{\"id\": \"api.x\", \"outcome\": \"%s\", \"deviceOutcomes\": [",
		  small->outcome);
	for (size_t i = 0; i < 2 && small->outcomes[i] != NULL; i++)
		text_addf(&json, "%s{\"ref\": \"d%zu\", \"outcome\": \"%s\"}", i > 0 ? ", " : "", i,
			  small->outcomes[i]);
	text_add(&json,
		 "]}, {\"id\": \"=a|\\\"b\", \"outcome\": \"pass\", \"assertions\": [{}]}]}");
	CU_ASSERT_EQUAL_FATAL(file_make_directories(folder, 0755, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, json.data, json.size, 0644, NULL), 0);
}

static void test_fill_folder(void)
{
	CU_ASSERT_EQUAL_FATAL(file_remove_tree(FOLDER, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(reports); i++)
		write_report(&reports[i]);
	CU_ASSERT_EQUAL(file_write_atomic(FOLDER "/2/other.json", "x", 1, 0644, NULL), 0);
}

static void read_folder(struct matrix *matrix, struct text_list *unread)
{
	struct text_list paths CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	text_list_add(&paths, FOLDER);
	const struct report_files files = {
		.without = matrix_unneeded, .use = matrix_add, .user = matrix};
	CU_ASSERT_EQUAL_FATAL(report_files_read(&paths, &files, unread, &err), 0);
	matrix_sort(matrix);
}

static void test_formats(void)
{
	static const struct {
		const char *format;
		bool apis_only;
		int columns;
		const char *wanted;
	} rows[] = {
		{"text", false, 0,
		 "A   a 7 on W 9600.1: 1 run\n"
		 "B   n 552.9 on W 20348.1: 1 run\n"
		 "C   n 552.12 on W 9600.1: 1 run\n"
		 "D   n 552.12 on W 20348.1: 2 runs\n"
		 "E   s 1 on W 9600.1 (recorded): 1 run\n"
		 "\n"
		 "       A     B     C     D            E\n"
		 "=a|\"b  pass  pass  pass  pass 2       pass\n"
		 "api.x  pass  pass  fail  fail 1 of 2  crash\n"},
		{"text", false, 25,
		 "E   s 1 on W 9600.1 (recorded): 1 run\n"
		 "\n"
		 "       A     B     C\n"
		 "=a|\"b  pass  pass  pass\n"
		 "api.x  pass  pass  fail\n"
		 "\n"
		 "       D            E\n"
		 "=a|\"b  pass 2       pass\n"
		 "api.x  fail 1 of 2  crash\n"},
		{"markdown", true, 0,
		 "| check | a 7 on W 9600.1: 1 run | n 552.9 on W 20348.1: 1 run | "
		 "n 552.12 on W 9600.1: 1 run | n 552.12 on W 20348.1: 2 runs | "
		 "s 1 on W 9600.1 (recorded): 1 run |\n"
		 "| --- | --- | --- | --- | --- | --- |\n"
		 "| api.x | pass | pass | fail | fail 1 of 2 | crash |\n"},
		{"markdown", false, 0, "| `=a`\\|`\"b` | pass | pass | pass | pass 2 | pass |\n"},
		{"csv", false, 0,
		 "check,driver,os,node,runs,pass,fail,unsupported,not-applicable,crash,timeout,broken,"
		 "notrun\r\n"
		 "\"'=a|\"\"b\",\"a 7\",\"W 9600.1\",\"live\",1,1,0,0,0,0,0,0,0\r\n"},
		{"json", true, 0,
		 "\"schema\": \"gpucert-matrix/1\",\n  \"reports\": 5,\n  \"repeated\": 1"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct matrix matrix CLEANUP_MATRIX = {0};
		struct text_list unread CLEANUP_TEXT_LIST = {0};
		const struct writer_options options = {.columns = rows[i].columns};
		struct text out CLEANUP_TEXT = {0};
		read_folder(&matrix, &unread);
		UNIT_INT(unread.count, 0);
		matrix_keep(&matrix, rows[i].apis_only, false);
		matrix_print(&matrix, rows[i].format, &options, &unread, &out);
		UNIT_CONTAINS(text_string(&out), rows[i].wanted);
		if (i + 1 == ARRAY_SIZE(rows))
			CU_ASSERT_EQUAL(file_write_atomic(GPUCERT_BINARY_DIR "/tests/matrix.json",
							  out.data, out.size, 0644, NULL),
					0);
	}
}

#ifndef _WIN32
/* Whatever has the name of a report is told. */
static void make_others(void)
{
	UNIT_INT(file_make_directories(FOLDER "/bad/d", 0755, NULL), 0);
	UNIT_INT(file_make_directories(FOLDER "/bad/e", 0755, NULL), 0);
	UNIT_INT(symlink("..", FOLDER "/bad/loop"), 0);
	UNIT_INT(symlink("../report.json", FOLDER "/bad/a/link"), 0);
	UNIT_INT(symlink("../../1/report.json", FOLDER "/bad/d/report.json"), 0);
	UNIT_INT(mkfifo(FOLDER "/bad/e/report.json", 0644), 0);
}
#endif

static void test_failed_rows(void)
{
	struct matrix matrix CLEANUP_MATRIX = {0};
	struct text_list unread CLEANUP_TEXT_LIST = {0};
	read_folder(&matrix, &unread);
	matrix_keep(&matrix, false, true);
	UNIT_INT(matrix.row_count, 1);
	UNIT_STRING(matrix.rows[0].id, "api.x");
	const struct matrix_cell *cell = matrix_cell_at(&matrix, 0, 3);
	CU_ASSERT_PTR_NOT_NULL_FATAL(cell);
	UNIT_INT(cell->outcomes[REPORT_FAIL], 1);
}

#define OVERRIDE "\xe2\x80\xae" /* U+202E turns the order of what follows */

/* Every quoted field begins with something else than what a program for spreadsheets takes for a formula. */
static void expect_no_formula(const struct text *csv)
{
	static const char *const formulas[] = {"=",
					       "+",
					       "-",
					       "@",
					       "\t",
					       "\r",
					       "\xef\xbc\x9d",
					       "\xef\xbc\x8b",
					       "\xef\xbc\x8d",
					       "\xef\xbc\xa0"};
	unsigned fields = 0;
	bool quoted = false;
	for (size_t at = 0; at < csv->size; at++) {
		if (csv->data[at] != '"')
			continue;
		quoted = !quoted;
		fields += quoted;
		for (size_t i = 0; quoted && i < ARRAY_SIZE(formulas); i++)
			CU_ASSERT_FALSE(text_starts_with(csv->data + at + 1, formulas[i]));
	}
	UNIT_INT(fields, 4);
}

/* No cell of CSV begins a formula, and no control character is printed. */
static void test_untrusted(void)
{
	static const char *const hostile[] = {"=1+1",	  "+1",	      "-1",	    "@SUM(A1)",
					      "\\t=1",	  "\\r=1",    "\\u001b[2J", "\\uff1d1",
					      "\\uff0b1", "\\uff0d1", "\\uff201",   "\\u202ex"};
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		struct matrix matrix CLEANUP_MATRIX = {0};
		struct text_list unread CLEANUP_TEXT_LIST = {0};
		struct error err = {0};
		cJSON *report CLEANUP_JSON = NULL;
		char *json CLEANUP_FREE = text_format(
			"{\"environment\": {\"node\": {\"kind\": \"%s\"}, \"os\": {\"product\": \"%s\"}, "
			"\"drivers\": [{\"key\": \"%s\"}]}, \"checks\": [{\"id\": \"%s\", \"outcome\": \"pass\"}]}",
			hostile[i], hostile[i], hostile[i], hostile[i]);
		CU_ASSERT_EQUAL_FATAL(json_parse(json, strlen(json), &report, &err), 0);
		CU_ASSERT_EQUAL_FATAL(matrix_add("report.json", report, &matrix, &err), 0);
		matrix_sort(&matrix);
		for (size_t k = 0; matrix_formats[k] != NULL; k++) {
			struct text out CLEANUP_TEXT = {0};
			const bool html = strcmp(matrix_formats[k], "html") == 0;
			matrix_print(&matrix, matrix_formats[k], &plain, &unread, &out);
			for (size_t at = 0; at < out.size; at++)
				CU_ASSERT((unsigned char)out.data[at] >= ' ' ||
					  strchr(html ? "\r\n\t" : "\r\n", out.data[at]) != NULL);
			if (strcmp(matrix_formats[k], "json") != 0)
				CU_ASSERT_PTR_NULL(strstr(text_string(&out), OVERRIDE));
			if (strcmp(matrix_formats[k], "csv") == 0)
				expect_no_formula(&out);
		}
	}
}

/* Which runs are the last ones does not depend on the order in which they were read. */
static void test_latest(void)
{
	static const struct {
		const char *path, *started, *outcome;
	} runs[] = {{"b", "2026-11-20T10:00", "fail"},
		    {"d", "2026-11-22T10:00", "fail"},
		    {"c", "2026-11-22T10:00", "fail"},
		    {"a", "2026-11-21T10:00", "pass"}};
	static const char *const newest[] = {"c", "d", "a", "b"};
	struct matrix matrix CLEANUP_MATRIX = {0};
	struct text_list unread CLEANUP_TEXT_LIST = {0};
	struct text page CLEANUP_TEXT = {0};
	struct error err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		cJSON *report CLEANUP_JSON = NULL;
		char *json CLEANUP_FREE =
			text_format("{\"run\": {\"started\": \"%s\"}, \"environment\": {}, "
				    "\"checks\": [{\"id\": \"api.x\", \"outcome\": \"%s\"}]}",
				    runs[i].started, runs[i].outcome);
		CU_ASSERT_EQUAL_FATAL(json_parse(json, strlen(json), &report, &err), 0);
		CU_ASSERT_EQUAL_FATAL(matrix_add(runs[i].path, report, &matrix, &err), 0);
	}
	matrix_sort(&matrix);
	const struct matrix_cell *cell = matrix_cell_at(&matrix, 0, 0);
	UNIT_STRING(matrix.reports[cell->latest[REPORT_FAIL]].path, "c");
	UNIT_STRING(matrix.reports[cell->latest[REPORT_PASS]].path, "a");
	for (size_t i = 0; i < ARRAY_SIZE(newest); i++)
		UNIT_STRING(matrix.reports[matrix.columns[0].newest[i]].path, newest[i]);
	matrix_print(&matrix, "html", &plain, &unread, &page);
	UNIT_CONTAINS(text_string(&page), "flaky</span>");
	UNIT_CONTAINS(text_string(&page),
		      "in 3 of 4 runs, last <a href=\"c#c-api.x\">2026-11-22 10:00</a>");
}

/* Files that are not reports are told, and the rest is read. Links are not followed. */
static void test_unread(void)
{
	static const char *const wanted[] = {
		"bad/a/report.json: checks[0].id",
		"bad/b/report.json: line 1",
		"bad/c/report.json: schema",
#ifndef _WIN32
		"bad/d/report.json: a link, which is not followed",
		"bad/e/report.json: a pipe or a device",
#endif
	};
	struct matrix matrix CLEANUP_MATRIX = {0};
	struct text_list unread CLEANUP_TEXT_LIST = {0};
	static const char *const contents[] = {
		"{\"schema\": \"gpucert-report/2\", \"checks\": [{}]}", "[[[", "{}"};
	for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
		char *folder CLEANUP_FREE = text_format(FOLDER "/bad/%c", "abc"[i]);
		char *path CLEANUP_FREE = text_format(FOLDER "/bad/%c/report.json", "abc"[i]);
		CU_ASSERT_EQUAL_FATAL(file_make_directories(folder, 0755, NULL), 0);
		CU_ASSERT_EQUAL_FATAL(
			file_write_atomic(path, contents[i], strlen(contents[i]), 0644, NULL), 0);
	}
#ifndef _WIN32
	make_others();
#endif
	read_folder(&matrix, &unread);
	text_list_sort(&unread);
	UNIT_INT(matrix.report_count, 5);
	UNIT_INT(matrix.repeated, 1);
	CU_ASSERT_EQUAL_FATAL(unread.count, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		/* On Windows, folders within the given one are parted by backslashes. */
		for (char *at = strchr(unread.items[i], '\\'); at != NULL; at = strchr(at, '\\'))
			*at = '/';
		UNIT_CONTAINS(unread.items[i], wanted[i]);
	}
}

static void test_nothing_there(void)
{
	struct matrix matrix CLEANUP_MATRIX = {0};
	struct text_list paths CLEANUP_TEXT_LIST = {0};
	struct text_list unread CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	text_list_add(&paths, FOLDER "/nowhere");
	const struct report_files files = {
		.without = matrix_unneeded, .use = matrix_add, .user = &matrix};
	UNIT_INT(report_files_read(&paths, &files, &unread, &err), 0);
	UNIT_CONTAINS(unread.items[0], "/nowhere: ");
}

UNIT_MAIN("matrix", {"a folder is filled", test_fill_folder}, {"formats", test_formats},
	  {"rows that failed", test_failed_rows}, {"untrusted", test_untrusted},
	  {"latest runs", test_latest}, {"unread", test_unread},
	  {"nothing there", test_nothing_there})
