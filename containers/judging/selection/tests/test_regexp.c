/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "containers/judging/selection/regexp.h"

static void test_matches(void)
{
	static const struct {
		const char *pattern, *text;
		bool found;
	} rows[] = {
		{"", "a", true},
		{"b", "abc", true},
		{"^b", "abc", false},
		{"^AVX", "AVX2", true},
		{"^AVX[0-9]+$", "AVX512F", false},
		{"-generic$", "6.8.0-45-generic", true},
		{"^[0-9]+\\.(7|8)\\.", "6.8.0", true},
		{"^[0-9]+\\.(7|9)\\.", "6.8.0", false},
		{"^6\\.8", "6x8", false},
		{"^[0-9]{1,2}\\.8", "16.8", true},
		{"^[0-9]{2}\\.8", "6.8", false},
		{"^[^a-z]*$", "6.8", true},
		{"[]a]", "]", true},
		{"a|b|", "c", true},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = {0};
		bool found = !rows[i].found;
		UNIT_INT(regexp_search(rows[i].pattern, rows[i].text, &found, &err), 0);
		UNIT_STRING(err.text, "");
		if (found != rows[i].found)
			(void)printf("\n%s in %s\n", rows[i].pattern, rows[i].text);
		UNIT_INT(found, rows[i].found);
	}
}

/* Not an expression, or read differently elsewhere, or one that grows without bound. */
static void test_refused(void)
{
	static const char *const patterns[] = {
		"(",	 "a)b(", "[",	   "[a",	 "[\\.]", "[[:alpha:]]", "\\d",
		"\\",	 "\\1",	 "a{100}", "a{1000000}", "a{,5}", "a{b}",	 "((a{9}){9}){9}",
		"(?i)a", "a*?",	 "a++",	   "a{2}{3}",	 "*a",	  "a|*b",	 "a{2,100}"};
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct error err = {0};
		bool found = false;
		int rc = regexp_search(patterns[i], "a", &found, &err);
		if (rc != ERROR_FORMAT)
			(void)printf("\n%s is taken\n", patterns[i]);
		UNIT_INT(rc, ERROR_FORMAT);
		UNIT_CONTAINS(err.text, "is not a regular expression that is evaluated here");
	}
	struct text pattern CLEANUP_TEXT = {0};
	struct error err = {0};
	bool found = false;
	while (pattern.size <= REGEXP_MAX)
		text_add(&pattern, "a");
	UNIT_INT(regexp_search(text_string(&pattern), "a", &found, &err), ERROR_LIMIT);
}

UNIT_MAIN("regexp", {"matches", test_matches}, {"refused", test_refused})
