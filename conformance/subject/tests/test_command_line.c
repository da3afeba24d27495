/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "conformance/subject/plugin_process.h"

static void check_words(enum command_line_rules rules, const char *line, const char *wanted)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	struct text joined CLEANUP_TEXT = {0};
	UNIT_INT(command_line_split(rules, line, &words, NULL), 0);
	for (size_t w = 0; w < words.count; w++)
		text_addf(&joined, "%s%s", w == 0 ? "" : "|", words.items[w]);
	UNIT_STRING(text_string(&joined), wanted);
}

static void test_command_lines(void)
{
	static const struct {
		const char *line, *words; /* joined by '|' */
	} both[] = {
		{"", ""},
		{"  ", ""},
		{"plugin", "plugin"},
		{" plugin\t--flag  value\n", "plugin|--flag|value"},
		{"a 'b c' d", "a|b c|d"},
		{"a \"b  c\" d", "a|b  c|d"},
		{"--x='1 2'\"3 4\"5", "--x=1 23 45"},
		{"'' \"\"", "|"},
		{"'a\\b'", "a\\b"},
		{"$HOME *", "$HOME|*"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		check_words(COMMAND_LINE_POSIX, both[i].line, both[i].words);
		check_words(COMMAND_LINE_WINDOWS, both[i].line, both[i].words);
	}
	check_words(COMMAND_LINE_POSIX, "a\\ b c", "a b|c");
	check_words(COMMAND_LINE_POSIX, "\"a\\\"b\\\\c\\d\"", "a\"b\\c\\d");
	check_words(COMMAND_LINE_WINDOWS, "C:\\a\\p.exe --d=\"C:\\x y\\\\\" z\\",
		    "C:\\a\\p.exe|--d=C:\\x y\\|z\\");
	check_words(COMMAND_LINE_WINDOWS, "a\\\"b \"c\\\"d\" \\\\host\\share",
		    "a\"b|c\"d|\\\\host\\share");
	struct text_list words CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	UNIT_INT(command_line_split(COMMAND_LINE_POSIX, "a 'b", &words, &err), ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, "'b");
	UNIT_INT(command_line_split(COMMAND_LINE_POSIX, "a \"b\\", &words, &err), ERROR_ARGUMENT);
	UNIT_INT(command_line_split(COMMAND_LINE_POSIX, "a\\", &words, &err), ERROR_ARGUMENT);
	UNIT_INT(command_line_split(COMMAND_LINE_WINDOWS, "\"a\\\"", &words, &err), ERROR_ARGUMENT);
}

UNIT_MAIN("subject command line", {"command lines", test_command_lines})
