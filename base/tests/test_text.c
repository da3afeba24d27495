/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"

#include <limits.h>
#include <stdint.h>

static void test_building(void)
{
	struct text text CLEANUP_TEXT = {0};
	char *taken CLEANUP_FREE = NULL;
	UNIT_STRING(text_string(&text), "");
	text_add(&text, "a");
	text_addf(&text, "%d%s", 5, "b");
	text_append(&text, "\0c", 2);
	UNIT_INT(text.size, 5);
	UNIT_STRING(text_string(&text), "a5b");
	for (int i = 0; i < 1000; i++)
		text_add(&text, "0123456789");
	UNIT_INT(text.size, 10005);
	taken = text_take(&text);
	UNIT_STRING(taken, "a5b");
	UNIT_INT(text.size, 0);
	free(STEAL(taken));
	taken = text_take(&text);
	UNIT_STRING(taken, "");
}

static void test_running_out_of_memory_is_remembered(void)
{
	struct text text CLEANUP_TEXT = {0};
	text_add(&text, "kept");
	text_append(&text, "x", SIZE_MAX - 8);
	CU_ASSERT_TRUE(text.failed);
	text_add(&text, "more");
	UNIT_STRING(text_string(&text), "kept");
	CU_ASSERT_PTR_NULL(text_take(&text));
	text_add(&text, "fresh");
	UNIT_STRING(text_string(&text), "fresh");
}

static void check_escaped(const char *data, size_t size, const char *wanted)
{
	struct text text CLEANUP_TEXT = {0};
	text_add_escaped(&text, data, size);
	UNIT_STRING(text_string(&text), wanted);
}

/* Of a literal, which may hold NULs. */
#define CHECK_ESCAPED(data, wanted) check_escaped(data, sizeof(data) - 1, wanted)

static void test_escapes(void)
{
	CHECK_ESCAPED("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		      "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	CHECK_ESCAPED("a\nb\tc\\d\re\x1b[31m\x7f", "a\\nb\\tc\\\\d\\x0de\\x1b[31m\\x7f");
	CHECK_ESCAPED("\0", "\\x00");
	CHECK_ESCAPED("\xc2\x9b[31m", "\\u{009b}[31m"); /* C1 control */
	CHECK_ESCAPED("a\xe2\x80\x8b"
		      "b",
		      "a\\u{200b}b");				     /* zero width space */
	CHECK_ESCAPED("\xe2\x80\xaegpj", "\\u{202e}gpj");	     /* right-to-left override */
	CHECK_ESCAPED("\xe2\x81\xa6\xd8\x9c", "\\u{2066}\\u{061c}"); /* isolate, letter mark */
	CHECK_ESCAPED("\xe2\x80\xa8", "\\u{2028}");		     /* line separator */
	CHECK_ESCAPED("\xff\xc0\x80\xed\xa0\x80", "\\xff\\xc0\\x80\\xed\\xa0\\x80");
	CHECK_ESCAPED("\xe2\x82", "\\xe2\\x82"); /* cut short */
}

/* What CI systems would take for a command is text; all other text stays as it is. */
static void test_commands_are_escaped(void)
{
	struct text text CLEANUP_TEXT = {0};
	CHECK_ESCAPED("std::string a:: #1 # #", "std::string a:: #1 # #");
	CHECK_ESCAPED("::error::x", "\\x3a:error::x");
	CHECK_ESCAPED(" \t\xc2\xa0\xe3\x80\x80::error::x",
		      " \\t\xc2\xa0\xe3\x80\x80\\x3a:error::x");
	CHECK_ESCAPED(":::error::x", "\\x3a::error::x");
	CHECK_ESCAPED("a ##[error]##vso[x]", "a #\\x23[error]#\\x23vso[x]");
	CHECK_ESCAPED("####[error]", "#\\x23#\\x23[error]");
	text_add_escaped(&text, "a#", 2);
	text_add_escaped(&text, "#[error]", 8);
	UNIT_STRING(text_string(&text), "a#\\x23[error]");
}

static void test_lines(void)
{
	struct text text CLEANUP_TEXT = {0};
	text_add_line(&text, "%s: %d", "a\nb", 7);
	text_add_line(&text, "%s", "::error::x");
	text_add_line(&text, "%s%s", "#", "#[error]");
	UNIT_STRING(text_string(&text), "a\\nb: 7\n\\x3a:error::x\n#\\x23[error]\n");
}

static void test_xml(void)
{
	struct text text CLEANUP_TEXT = {0};
	static const char data[] =
		"<a b=\"c\" d='e'>&\n\x01\xff\xef\xbf\xbe\t\r\x7f\xc2\x9b\xe2\x80\xae";
	text_add_xml(&text, data, sizeof(data) - 1);
	UNIT_STRING(text_string(&text),
		    "&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;\n"
		    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\t&#xd;&#x7f;&#x9b;&#x202e;");
}

static void test_utf8(void)
{
	static const struct {
		const char *data;
		size_t size;
		bool valid;
	} cases[] = {
		{"", 0, true},
		{"\xc2\x80", 2, true},
		{"\xf4\x8f\xbf\xbf", 4, true},
		{"\xc0\xaf", 2, false},
		{"\xc1\xbf", 2, false},
		{"\xe0\x80\xaf", 3, false},
		{"\xed\xbf\xbf", 3, false},
		{"\xf4\x90\x80\x80", 4, false},
		{"\xf8\x88\x80\x80\x80", 5, false},
		{"\x80", 1, false},
		{"\xe2\x82", 2, false},
		{"\xe2(\xa1", 3, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		UNIT_INT(text_is_utf8(cases[i].data, cases[i].size), cases[i].valid);
}

static void test_comparing(void)
{
	CU_ASSERT_TRUE(text_starts_with("abc", "ab"));
	CU_ASSERT_FALSE(text_starts_with("a", "ab"));
	CU_ASSERT_TRUE(text_has_word("gpu-12-7.sock", "7"));
	CU_ASSERT_TRUE(text_has_word("12 2", "2"));
	CU_ASSERT_FALSE(text_has_word("gpu-12.sock", "2"));
	CU_ASSERT_FALSE(text_has_word("gpu-12.sock", "1"));
	CU_ASSERT_FALSE(text_has_word("gpu", ""));
	CU_ASSERT_TRUE(text_ends_with("abc", "bc"));
	CU_ASSERT_FALSE(text_ends_with("c", "bc"));
	CU_ASSERT_TRUE(text_equal(NULL, NULL));
	CU_ASSERT_FALSE(text_equal("a", NULL));
	CU_ASSERT_TRUE(text_equal("a", "a"));
}

static void test_glob(void)
{
	static const struct {
		const char *pattern, *string;
		bool match;
	} cases[] = {
		{"", "", true},		{"*", "", true},
		{"*", "abc", true},	{"a*c", "abbc", true},
		{"a*c", "abcd", false}, {"*.single-*", "isolation.single-device", true},
		{"a?c", "abc", true},	{"a?c", "ac", false},
		{"[ab]", "a", false},	{"a*b*c", "aXbXbXc", true},
		{"?", "", false},	{"a", "ab", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		UNIT_INT(text_glob(cases[i].pattern, cases[i].string), cases[i].match);
}

static void test_glob_takes_no_exponential_time(void)
{
	char string[4096];
	memset(string, 'a', sizeof(string));
	string[sizeof(string) - 1] = '\0';
	CU_ASSERT_FALSE(text_glob("*a*a*a*a*a*a*a*a*a*a*a*a*b", string));
}

static void test_integers(void)
{
	static const struct {
		const char *string;
		int rc;
		long long value;
	} cases[] = {
		{"0", 0, 0},
		{"-12", 0, -12},
		{"0x1F", 0, 31},
		{"-0x10", 0, -16},
		{"010", 0, 10},
		{"9223372036854775807", 0, INT64_MAX},
		{"9223372036854775808", ERROR_LIMIT, 0},
		{"", ERROR_FORMAT, 0},
		{" 1", ERROR_FORMAT, 0},
		{"1 ", ERROR_FORMAT, 0},
		{"+1", ERROR_FORMAT, 0},
		{"1.5", ERROR_FORMAT, 0},
		{"0x", ERROR_FORMAT, 0},
		{"one", ERROR_FORMAT, 0},
		{"-", ERROR_FORMAT, 0},
	};
	struct error err = {0};
	long long value = 0;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		value = 0;
		UNIT_INT(text_to_int64(cases[i].string, "size", INT64_MIN, INT64_MAX, &value, &err),
			 cases[i].rc);
		UNIT_INT(value, cases[i].value);
	}
	UNIT_STRING(err.text, "size: '-' is not a whole number");
	UNIT_INT(text_to_int64("11", "size", 1, 10, &value, &err), ERROR_LIMIT);
	UNIT_STRING(err.text, "size: 11 is outside 1 to 10");
	UNIT_INT(text_to_int64("0", "size", 1, 10, &value, &err), ERROR_LIMIT);
	UNIT_INT(text_to_int64("10", "size", 1, 10, &value, &err), 0);
}

static void test_device_numbers(void)
{
	static const char *const wrong[] = {
		NULL,	"",	"226",	 ":",	 "226:",	 ":128",	"-1:2",
		"1: 2", "1:2:", "1:2:3", "1:2 ", "4294967297:1", "1:4294967297"};
	unsigned major = 0;
	unsigned minor = 0;
	CU_ASSERT_TRUE(text_to_device_number("226:128", &major, &minor));
	UNIT_INT(major, 226);
	UNIT_INT(minor, 128);
	CU_ASSERT_TRUE(text_to_device_number("0:0", &major, &minor));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CU_ASSERT_FALSE(text_to_device_number(wrong[i], &major, &minor));
}

static void test_booleans(void)
{
	struct error err = {0};
	bool value = false;
	UNIT_INT(text_to_bool("YES", "x", &value, &err), 0);
	CU_ASSERT_TRUE(value);
	UNIT_INT(text_to_bool("off", "x", &value, &err), 0);
	CU_ASSERT_FALSE(value);
	UNIT_INT(text_to_bool("", "x", &value, &err), ERROR_FORMAT);
	UNIT_STRING(err.text, "x: '' is neither true nor false");
}

static void test_lists(void)
{
	struct text_list list CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	text_list_split(&list, ",b,,a,", ',');
	UNIT_INT(list.count, 2);
	UNIT_INT(text_list_check(&list, &err), 0);
	text_list_take(&list, NULL);
	UNIT_INT(text_list_check(&list, &err), ERROR_MEMORY);
	for (int i = 0; i < 100; i++)
		text_list_take(&list, text_format("%03d", i));
	text_list_sort(&list);
	UNIT_STRING(list.items[0], "000");
	UNIT_STRING(list.items[101], "b");
	CU_ASSERT_PTR_NULL(list.items[102]);
	CU_ASSERT_TRUE(text_list_has(&list, "a"));
	CU_ASSERT_FALSE(text_list_has(&list, "c"));
	text_list_free(&list);
	UNIT_INT(list.count, 0);
	text_list_sort(&list);
	CU_ASSERT_FALSE(text_list_has(&list, "a"));
}

static void test_hex(void)
{
	char out[7] = "xxxxxx";
	text_hex(out, (const unsigned char[]){0x00, 0x9a, 0xff}, 3);
	UNIT_STRING(out, "009aff");
	text_hex(out, NULL, 0);
	UNIT_STRING(out, "");
}

UNIT_MAIN("text", {"hex", test_hex}, {"building", test_building},
	  {"running out of memory is remembered", test_running_out_of_memory_is_remembered},
	  {"escapes", test_escapes}, {"lines", test_lines}, {"commands", test_commands_are_escaped},
	  {"XML", test_xml}, {"UTF-8", test_utf8}, {"comparing", test_comparing},
	  {"glob", test_glob},
	  {"glob takes no exponential time", test_glob_takes_no_exponential_time},
	  {"integers", test_integers}, {"device numbers", test_device_numbers},
	  {"booleans", test_booleans}, {"lists", test_lists})
