/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "reports/ci/ci.h"

#include <string.h>

static void set(const char *name, const char *value)
{
#ifdef _WIN32
	char *pair CLEANUP_FREE = text_format("%s=%s", name, value != NULL ? value : "");
	CU_ASSERT_EQUAL(_putenv(pair), 0);
#else
	CU_ASSERT_EQUAL(value != NULL ? setenv(name, value, 1) : unsetenv(name), 0);
#endif
}

static void forget_all(void)
{
	for (const struct ci_system *system = ci_systems; system->name != NULL; system++)
		set(system->variable, NULL);
}

/* Each name is of a row, and each row has a name; "auto" goes by the variables alone. */
static void test_find(void)
{
	size_t rows = 0;
	forget_all();
	CU_ASSERT_PTR_NULL(ci_find("none"));
	CU_ASSERT_PTR_NULL(ci_find("auto"));
	for (const struct ci_system *system = ci_systems; system->name != NULL; system++) {
		UNIT_STRING(ci_names[2 + rows++], system->name);
		CU_ASSERT_PTR_EQUAL(ci_find(system->name), system);
		set(system->variable, "true");
		CU_ASSERT_PTR_EQUAL(ci_find("auto"), system);
		CU_ASSERT_PTR_NULL(ci_find("none"));
		set(system->variable, "false");
		CU_ASSERT_PTR_NULL(ci_find("auto"));
		set(system->variable, NULL);
	}
	CU_ASSERT_PTR_NULL(ci_names[2 + rows]);
}

static void test_annotations(void)
{
	static const char title[] = "a, b: 100% [x];y|'";
	static const char message[] = "l1\nl2\r: 5 %25, [ok]; |n 'q'";
	static const struct {
		const char *system, *wanted;
	} rows[] = {
		{"github",
		 "::error title=a%2C b%3A 100%25 [x];y|'::l1%0Al2%0D: 5 %2525, [ok]; |n 'q'\n"},
		{"azure",
		 "##vso[task.logissue type=error;]a, b: 100%AZP25 [x%5D%3By|': l1%0Al2%0D: 5 "
		 "%AZP2525, [ok%5D%3B |n 'q'\n"},
		{"teamcity",
		 "##teamcity[message status='ERROR' text='a, b: 100% |[x|];y|||': l1|nl2|r: 5 "
		 "%25, |[ok|]; ||n |'q|'']\n"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text out CLEANUP_TEXT = {0};
		ci_annotate(ci_find(rows[i].system), &out, true, title, message);
		UNIT_STRING(text_string(&out), rows[i].wanted);
		text_reset(&out);
		ci_annotate(ci_find(rows[i].system), &out, false, "t", "m");
		CU_ASSERT_PTR_NOT_NULL(strstr(text_string(&out),
					      rows[i].system[0] == 't' ? "WARNING" : "warning"));
	}
}

static void test_sections(void)
{
	static const struct {
		const char *system, *begin, *end;
	} rows[] = {
		{"github", "::group::a b\n", "::endgroup::\n"},
		{"azure", "##[group]a b\n", "##[endgroup]\n"},
		{"teamcity", "##teamcity[blockOpened name='a b']\n",
		 "##teamcity[blockClosed name='a b']\n"},
		{"gitlab", ":gpucert_a_b[collapsed=true]\r\x1b[0Ka b\n", ":gpucert_a_b\r\x1b[0K\n"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text begin CLEANUP_TEXT = {0};
		struct text end CLEANUP_TEXT = {0};
		ci_section(ci_find(rows[i].system), &begin, "a b", true);
		ci_section(ci_find(rows[i].system), &end, "a b", false);
		CU_ASSERT_TRUE(text_ends_with(text_string(&begin), rows[i].begin));
		CU_ASSERT_TRUE(text_ends_with(text_string(&end), rows[i].end));
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"systems are found by name and by variable", test_find},
		{"annotations are escaped for each system", test_annotations},
		{"sections have a begin and an end", test_sections},
		CU_TEST_INFO_NULL,
	};
	return unit_run("ci", tests);
}
