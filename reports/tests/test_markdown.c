/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/members.h"
#include "base/tests/unit.h"
#include "reports/markdown.h"
#include "reports/writer.h"

#include <string.h>

enum { CHECKS = 400, DEVICES = 100 };

static void test_words(void)
{
	static const struct {
		const char *string, *wanted;
	} rows[] = {
		{"", ""},
		{"got 1, expected 2 (67.7 %)", "got 1, expected 2 (67.7 %)"},
		{"/devices/count: got 1", "/devices/count: got 1"},
		{"a b", "a b"},
		{"a  b ", "a  b "},
		{": a:", ": a:"},
		{"a|b", "`a`\\|`b`"},
		{"|", "\\|"},
		{"`", "\\`"},
		{"``a``", "\\`\\``a`\\`\\`"},
		{"a\\|b", "`a\\\\`\\|`b`"},
		{"x <b>bold</b> y", "x `<b>bold</b>` y"},
		{"&lt;", "`&lt;`"},
		{"one_two *three*", "`one_two` `*three*`"},
		{"[text](https://a.example)", "`[text](https://a.example)`"},
		{"see https://a.example/b.", "see `https://a.example/b.`"},
		{"(www.a.example) WWW.A.EXAMPLE", "`(www.a.example)` `WWW.A.EXAMPLE`"},
		{"@someone, some@one.example", "`@someone,` `some@one.example`"},
		{"#1 :x: $x$ ~~y~~ ^1", "`#1` `:x:` `$x$` `~~y~~` `^1`"},
		{"a\nb\r\x1b[31m", "`a\\nb\\x0d\\x1b[31m`"},
		{"\xe2\x80\xae"
		 "drow \xff",
		 "`\\u{202e}drow` `\\xff`"},
		{"Grafikger\xc3\xa4t", "Grafikger\xc3\xa4t"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text out CLEANUP_TEXT = {0};
		markdown_add(&out, rows[i].string);
		UNIT_STRING(text_string(&out), rows[i].wanted);
	}
}

/* Whole characters are shown. */
static void test_long_strings(void)
{
	struct text string CLEANUP_TEXT = {0};
	struct text out CLEANUP_TEXT = {0};
	text_add(&string, "a");
	for (size_t i = 0; i < MARKDOWN_STRING_MAX; i++)
		text_add(&string, "\xc3\xa4");
	markdown_add(&out, text_string(&string));
	UNIT_INT(out.size, MARKDOWN_STRING_MAX - 1 + strlen("\xe2\x80\xa6"));
	CU_ASSERT_TRUE(text_is_utf8(out.data, out.size));
	CU_ASSERT_TRUE(text_ends_with(text_string(&out), "\xc3\xa4\xe2\x80\xa6"));
}

/* Text that means most where it is not escaped, and bytes that grow most where they are. */
static char *hostile(size_t number, const char *suite)
{
	struct text out CLEANUP_TEXT = {0};
	text_addf(&out, "%s%zu |`|@all|<img src=x>|`https://a.example|\xff\xe2\x80\xae\n# x\n",
		  suite, number);
	while (out.size < 1000)
		text_add(&out, "\x01");
	return text_take(&out);
}

static cJSON *hostile_check(size_t number)
{
	static const char *const members[] = {"reason", "requirement", "title", "advice", "level"};
	static const char *const dispositions[] = {"unexpected-fail", "expected-fail",
						   "unexpected-improvement", "as-expected"};
	static const char *const outcomes[] = {"fail", "fail", "pass", "unsupported"};
	struct members json CLEANUP_MEMBERS = members_new();
	struct members expected CLEANUP_MEMBERS = members_new();
	struct members device_outcomes CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		char *string CLEANUP_FREE = hostile(number, members[i]);
		member_string(&json, members[i], string);
	}
	for (size_t i = 0; number % 4 == 2 && i < DEVICES; i++) {
		struct members outcome CLEANUP_MEMBERS = members_new();
		char *ref CLEANUP_FREE = hostile(i, "device");
		member_string(&outcome, "ref", ref);
		member_string(&outcome, "outcome", ref);
		member_item(&device_outcomes, NULL, members_take(&outcome));
	}
	char *id CLEANUP_FREE = hostile(number, "api.");
	member_string(&expected, "entry", id);
	member_string(&expected, "why", id);
	member_string(&json, "id", id);
	member_string(&json, "outcome", outcomes[number % 4]);
	member_string(&json, "disposition", dispositions[number % 4]);
	member_item(&json, "expected", members_take(&expected));
	member_item(&json, "deviceOutcomes", members_take(&device_outcomes));
	return members_take(&json);
}

static cJSON *hostile_environment(void)
{
	static const char *const sections[] = {"drivers", "devices", "images"};
	struct members json CLEANUP_MEMBERS = members_new();
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct members items CLEANUP_MEMBERS = members_new_array();
		for (size_t k = 0; k < DEVICES; k++) {
			struct members item CLEANUP_MEMBERS = members_new();
			char *ref CLEANUP_FREE = hostile(k, "device");
			member_string(&item, "ref", ref);
			member_string(&item, "key", ref);
			member_string(&item, "name", ref);
			member_item(&items, NULL, members_take(&item));
		}
		member_item(&json, sections[i], members_take(&items));
	}
	return members_take(&json);
}

/* Whatever a report holds, it stays within the bound, and lists say how much they leave out. What is written here, a
 * parser reads in the test markdown_hostile. */
static void test_bound(void)
{
	const struct writer_options options = {.location = "|out|"};
	struct members json CLEANUP_MEMBERS = members_new();
	struct members checks CLEANUP_MEMBERS = members_new_array();
	struct error err = {0};
	char *text CLEANUP_FREE = NULL;
	for (size_t i = 0; i < CHECKS; i++)
		member_item(&checks, NULL, hostile_check(i));
	member_item(&json, "environment", hostile_environment());
	member_item(&json, "checks", members_take(&checks));
	cJSON *report CLEANUP_JSON = members_take(&json);
	UNIT_NEED(report != NULL);
	UNIT_INT(writer_print(writer_find("markdown"), report, &options, &text, &err), 0);
	UNIT_NEED(text != NULL);
	CU_ASSERT_TRUE(strlen(text) <= MARKDOWN_REPORT_MAX);
	UNIT_CONTAINS(text, "\n185 more unexpected results: \\|`out`\\|`/report.json`\n");
	UNIT_CONTAINS(text, "\n85 more known failures: ");
	UNIT_CONTAINS(text, "\n85 more untested checks: ");
	UNIT_CONTAINS(text, "\n368 more APIs: ");
	UNIT_CONTAINS(text, "\n88 more devices: ");
	UNIT_CONTAINS(text, "\n| Drivers | ");
	CU_ASSERT_EQUAL(file_write_atomic(GPUCERT_BINARY_DIR "/tests/hostile-report.md", text,
					  strlen(text), 0644, &err),
			0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"untrusted text stays text", test_words},
		{"long strings are cut", test_long_strings},
		{"a report has a bound", test_bound},
		CU_TEST_INFO_NULL,
	};
	return unit_run("markdown", tests);
}
