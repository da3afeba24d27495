/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/tests/unit.h"
#include "base/yaml_json.h"
#include "reports/tests/cases.h"

#include <stdio.h>
#include <string.h>

static char *print(const char *format, const cJSON *report, const struct writer_options *options)
{
	char *text = NULL;
	struct error err = {0};
	if (writer_print(writer_find(format), report, options, &text, &err) < 0)
		CU_FAIL(err.text);
	return text;
}

static void compare(const char *format, const char *name, const char *file)
{
	const struct writer_options plain = {0};
	char *path CLEANUP_FREE = golden_path(name, file);
	char *reference CLEANUP_FREE = NULL;
	cJSON *report CLEANUP_JSON = golden_report(name);
	char *text CLEANUP_FREE = print(format, report, &plain);
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(file_read(path, 1 << 20, &reference, NULL, &err), 0);
	CU_ASSERT_TRUE(text_equal(text, reference));
	if (text != NULL && !text_equal(text, reference))
		(void)fprintf(stderr, "%s: %s is:\n%s", name, file, text);
}

static void test_golden_texts(void)
{
	for (const char *const *name = golden_cases; *name != NULL; name++) {
		compare("junit", *name, "junit.xml");
		compare("markdown", *name, "report.md");
		compare("summary", *name, "summary.txt");
	}
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;
	for (; *text != '\0'; text++)
		lines += *text == '\n' ? 1 : 0;
	return lines;
}

static void test_summary_is_ten_lines_at_most(void)
{
	const struct writer_options plain = {0};
	for (const char *const *name = golden_cases; *name != NULL; name++) {
		cJSON *report CLEANUP_JSON = golden_report(*name);
		char *text CLEANUP_FREE = print("summary", report, &plain);
		CU_ASSERT_TRUE(count_lines(text) <= SUMMARY_LINES);
		CU_ASSERT_TRUE(count_lines(text) >= 4);
	}
}

/* Line breaks and the program's own styles are the only control characters. */
static void test_summary_shows_no_foreign_control_character(void)
{
	const struct writer_options color = {.color = true, .columns = 80, .location = "\x1b]out"};
	cJSON *report CLEANUP_JSON = golden_report("hostile");
	char *text CLEANUP_FREE = print("summary", report, &color);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	if (text == NULL)
		return;
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\x1b["));
	CU_ASSERT_PTR_NULL(strstr(text, "\x1b[2J"));
	CU_ASSERT_PTR_NULL(strstr(text, "\x1b]"));
	CU_ASSERT_PTR_NULL(strstr(text, "\xe2\x80\xae"));
	for (const char *c = text; *c != '\0'; c++) {
		bool style =
			c[0] == '\x1b' && c[1] == '[' && c[2 + strspn(c + 2, "0123456789;")] == 'm';
		CU_ASSERT_TRUE((unsigned char)*c >= 0x20 || *c == '\n' || style);
	}
}

static size_t line_characters(const char *line)
{
	size_t count = 0;
	for (; *line != '\0' && *line != '\n'; line++)
		count += ((unsigned char)*line & 0xc0) != 0x80 ? 1 : 0;
	return count;
}

static void test_summary_keeps_to_the_width(void)
{
	static const char *const fitting[] = {"on ", "works ", "known ", "untested ", "report "};
	const struct writer_options narrow = {.columns = 60};
	cJSON *report CLEANUP_JSON = golden_report("outcomes");
	char *text CLEANUP_FREE = print("summary", report, &narrow);
	const char *line = text;
	size_t cut = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	if (text == NULL)
		return;
	while (*line != '\0') {
		/* The verdict, failures with their advice and the digest are never cut. */
		for (size_t i = 0; i < ARRAY_SIZE(fitting); i++) {
			if (text_starts_with(line, fitting[i]))
				CU_ASSERT_TRUE(line_characters(line) <= 60);
		}
		cut += line_characters(line) == 60 ? 1 : 0;
		line = strchr(line, '\n') + 1;
	}
	CU_ASSERT_TRUE(cut > 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "; not conformant, violated: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text,
				      "Give each container only the device nodes and files of "
				      "the devices that were allocated to it."));
}

static void test_summary_tells_one_cause(void)
{
	static const char *const lines[] = {
		LINE_RUN_BEGIN,		LINE_PLAN, LINE_BEGIN, LINE_FAIL, LINE_HELD,
		"\"type\":\"run-end\"", NULL};
	const struct writer_options plain = {0};
	struct error err = {0};
	cJSON *report CLEANUP_JSON = report_of_lines(lines, &err);
	char *text CLEANUP_FREE = report != NULL ? print("summary", report, &plain) : NULL;
	UNIT_NEED(text != NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "fail       a.one (must R-1), 1 check not run because "
					    "of it: got a, expected b\n"));
	CU_ASSERT_PTR_NULL(strstr(text, "untested"));
}

static void test_json_is_the_report(void)
{
	const struct writer_options plain = {0};
	cJSON *report CLEANUP_JSON = golden_report("hostile");
	char *text CLEANUP_FREE = print("json", report, &plain);
	cJSON *parsed CLEANUP_JSON = cJSON_Parse(text);
	CU_ASSERT_TRUE(cJSON_Compare(report, parsed, true));
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;
	for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
		count++;
	return count;
}

/* What is too long for a CI system is cut between characters, and the cut is told. An XML parser reads what is written here in
 * the test junit_accepts_huge. */
static void test_junit_is_cut(void)
{
	static const char *const texts[] = {"reason", "title", "advice"};
	const struct writer_options plain = {0};
	struct error err = {0};
	struct text huge CLEANUP_TEXT = {0};
	cJSON *report CLEANUP_JSON = golden_report("hostile");
	cJSON *check = cJSON_GetObjectItemCaseSensitive(report, "checks")->child;
	while (huge.size < (size_t)12 * 1024 * 1024)
		text_add(&huge, "]]>\x02 <![CDATA[ \xf0\x9f\x98\x80 \xef\xbf\xbe &#0; \xff");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cJSON_DeleteItemFromObjectCaseSensitive(check, texts[i]);
		(void)cJSON_AddStringToObject(check, texts[i], text_string(&huge));
	}
	cJSON_DeleteItemFromObjectCaseSensitive(check, "notes");
	cJSON *notes = cJSON_AddArrayToObject(check, "notes");
	(void)cJSON_AddItemToArray(notes, cJSON_CreateString(text_string(&huge)));
	char *text CLEANUP_FREE = print("junit", report, &plain);
	UNIT_NEED(text != NULL);
	UNIT_INT(count_of(text, "more bytes are in report.json)"), 3);
	CU_ASSERT_TRUE(strlen(text) < (size_t)3 * 1024 * 1024);
	CU_ASSERT_TRUE(text_is_utf8(text, strlen(text)));
	UNIT_INT(count_of(text, "]]>"), 0);
	UNIT_INT(count_of(text, "<!["), 0);
	UNIT_INT(count_of(text, "\x02"), 0);
	CU_ASSERT_EQUAL(file_write_atomic(GPUCERT_BINARY_DIR "/tests/huge-junit.xml", text,
					  strlen(text), 0644, &err),
			0);
}

static void test_junit_without_a_time(void)
{
	const struct writer_options plain = {0};
	cJSON *report CLEANUP_JSON = golden_report("complete");
	cJSON *run = cJSON_GetObjectItemCaseSensitive(report, "run");
	cJSON_DeleteItemFromObjectCaseSensitive(run, "started");
	(void)cJSON_AddStringToObject(run, "started", "\"><evil/>");
	char *text CLEANUP_FREE = print("junit", report, &plain);
	UNIT_NEED(text != NULL);
	UNIT_CONTAINS(text, "timestamp=\"1970-01-01T00:00:00\"");
	UNIT_INT(count_of(text, "evil"), 0);
}

/* The status of Sonobuoy's item with that name; that of the whole for NULL. */
static const char *sonobuoy_status(const cJSON *results, const char *name)
{
	json_each (item, json_pointer(results, "/items")) {
		if (name != NULL && text_equal(json_pointer_string(item, "/name"), name))
			return json_pointer_string(item, "/status");
	}
	return name == NULL ? json_pointer_string(results, "/status") : NULL;
}

/* What YAML reads is what was written. */
static cJSON *sonobuoy_results(const cJSON *report)
{
	const struct writer_options plain = {0};
	char *text CLEANUP_FREE = print("sonobuoy", report, &plain);
	cJSON *json CLEANUP_JSON = NULL;
	cJSON *yaml = NULL;
	struct error err = {0};
	if (text == NULL)
		return NULL; /* which print() reported */
	UNIT_INT(json_parse(text, strlen(text), &json, NULL), 0);
	if (yaml_to_json(text, strlen(text), &yaml, &err) < 0)
		CU_FAIL(err.text);
	CU_ASSERT_TRUE(cJSON_Compare(json, yaml, true));
	return yaml;
}

static void test_sonobuoy(void)
{
	static const struct {
		const char *golden, *check, *status;
	} rows[] = {
		{"complete", NULL, "passed"},
		{"killed", NULL, "failed"},
		{"killed-early", NULL, "unknown"},
		{"broken", NULL, "unknown"},
		{"interrupted", NULL, "unknown"},
		{"outcomes", NULL, "failed"},
		{"outcomes", "registration.in-time", "passed"},
		{"outcomes", "isolation.no-allocation", "failed"},
		{"outcomes", "isolation.single-device-vulkan", "timeout"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *report CLEANUP_JSON = golden_report(rows[i].golden);
		cJSON *results CLEANUP_JSON = sonobuoy_results(report);
		UNIT_STRING(sonobuoy_status(results, rows[i].check), rows[i].status);
	}
	/* An item passes if the check did, and in no other case. */
	for (const char *const *name = golden_cases; *name != NULL; name++) {
		cJSON *report CLEANUP_JSON = golden_report(*name);
		cJSON *results CLEANUP_JSON = sonobuoy_results(report);
		UNIT_INT(cJSON_GetArraySize(json_pointer(results, "/items")),
			 cJSON_GetArraySize(json_pointer(report, "/checks")));
		json_each (check, json_pointer(report, "/checks")) {
			const char *id = json_pointer_string(check, "/id");
			if (!text_equal(json_pointer_string(check, "/outcome"), "pass"))
				CU_ASSERT_FALSE(text_equal(sonobuoy_status(results, id), "passed"));
		}
	}
}

/* Without an exit code, or without a check that passed, nothing is proven. */
static void test_sonobuoy_of_nothing(void)
{
	cJSON *report CLEANUP_JSON = NULL;
	cJSON *complete CLEANUP_JSON = golden_report("complete");
	static const char empty[] = "{\"checks\": [], \"verdict\": {\"exitCode\": 0}}";
	UNIT_INT(json_parse(empty, strlen(empty), &report, NULL), 0);
	cJSON *nothing CLEANUP_JSON = sonobuoy_results(report);
	UNIT_STRING(sonobuoy_status(nothing, NULL), "unknown");
	cJSON_DeleteItemFromObject(complete, "verdict");
	cJSON *results CLEANUP_JSON = sonobuoy_results(complete);
	UNIT_STRING(sonobuoy_status(results, NULL), "unknown");
}

static void test_formats(void)
{
	size_t count = 0;
	for (; writer_names[count] != NULL; count++) {
		CU_ASSERT_PTR_EQUAL(writer_find(writer_names[count]), &writers[count]);
		CU_ASSERT_STRING_EQUAL(writers[count].name, writer_names[count]);
	}
	CU_ASSERT_PTR_NULL(writers[count].name);
	CU_ASSERT_PTR_NULL(writer_find("tap"));
}

static void test_what_is_not_a_report(void)
{
	const struct writer_options plain = {0};
	cJSON *nothing CLEANUP_JSON = cJSON_CreateObject();
	char *text CLEANUP_FREE = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL(writer_print(writer_find("junit"), nothing, &plain, &text, &err),
			ERROR_FORMAT);
	CU_ASSERT_STRING_EQUAL(err.text, "checks: missing, expected array");
	CU_ASSERT_EQUAL(writer_print(writer_find("summary"), nothing, &plain, &text, &err),
			ERROR_FORMAT);
	CU_ASSERT_EQUAL(writer_print(writer_find("markdown"), nothing, &plain, &text, &err),
			ERROR_FORMAT);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"golden journals give their texts", test_golden_texts},
		{"a summary is ten lines at most", test_summary_is_ten_lines_at_most},
		{"a summary shows no foreign control character",
		 test_summary_shows_no_foreign_control_character},
		{"a summary tells one cause", test_summary_tells_one_cause},
		{"a summary keeps to the width", test_summary_keeps_to_the_width},
		{"JSON is the report", test_json_is_the_report},
		{"JUnit cuts what is too long", test_junit_is_cut},
		{"JUnit knows no time", test_junit_without_a_time},
		{"Sonobuoy passes only what passed", test_sonobuoy},
		{"Sonobuoy passes no empty run", test_sonobuoy_of_nothing},
		{"each format has its name", test_formats},
		{"what is not a report is refused", test_what_is_not_a_report},
		CU_TEST_INFO_NULL,
	};
	return unit_run("writers", tests);
}
