/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"

static void test_join(void)
{
	static const char *const cases[][3] = {
		{"a", "b", "a\\b"},
		{"a\\", "b", "a\\b"},
		{"a", "/b", "a\\b"},
		{"C:\\", "b", "C:\\b"},
		{"C:/a/", "\\b", "C:/a\\b"},
		{"", "b", "\\b"},
		{"\\\\s\\h", "b", "\\\\s\\h\\b"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *joined CLEANUP_FREE = path_join(cases[i][0], cases[i][1]);
		UNIT_STRING(joined, cases[i][2]);
	}
}

static void test_parts(void)
{
	static const char *const cases[][3] = {
		{"C:\\a\\b", "b", "C:\\a"},
		{"C:/a/b", "b", "C:/a"},
		{"a", "a", "."},
		{"C:\\a", "a", "C:\\"},
		{"\\a", "a", "\\"},
		{"a\\/b", "b", "a"},
		{"\\\\server\\share\\a", "a", "\\\\server\\share\\"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *parent CLEANUP_FREE = path_directory(cases[i][0]);
		UNIT_STRING(path_base(cases[i][0]), cases[i][1]);
		UNIT_STRING(parent, cases[i][2]);
	}
}

static void test_absolute(void)
{
	static const char *const absolute[] = {"C:\\", "c:/a", "\\a", "/a", "\\\\server\\share"};
	static const char *const relative[] = {"", "a", "a\\b", "C:", "C:a", ".\\a"};
	for (size_t i = 0; i < ARRAY_SIZE(absolute); i++)
		CU_ASSERT_TRUE(path_is_absolute(absolute[i]));
	for (size_t i = 0; i < ARRAY_SIZE(relative); i++)
		CU_ASSERT_FALSE(path_is_absolute(relative[i]));
}

static void test_normalize(void)
{
	static const char *const cases[][2] = {
		{"C:\\a\\\\b\\.\\c\\", "C:\\a\\b\\c"},
		{"C:/a/../../b", "C:\\b"},
		{"C:\\..", "C:\\"},
		{"C:/", "C:\\"},
		{"..\\a\\..", ".."},
		{"a/..", "."},
		{"\\\\server\\share\\..\\a", "\\\\server\\share\\a"},
		{"//server/share", "\\\\server\\share"},
		{"/a", "\\a"},
		{"a\\..\\..\\b", "..\\b"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *normal CLEANUP_FREE = path_normalize(cases[i][0]);
		UNIT_STRING(normal, cases[i][1]);
	}
}

static void test_within(void)
{
	CU_ASSERT_TRUE(path_is_within("C:\\a\\b", "c:/A"));
	CU_ASSERT_TRUE(path_is_within("C:\\a", "C:\\"));
	CU_ASSERT_TRUE(path_is_within("C:\\A\\", "C:\\a"));
	CU_ASSERT_TRUE(path_is_within("\\\\s\\h\\a", "\\\\s\\h"));
	CU_ASSERT_FALSE(path_is_within("C:\\ab", "C:\\a"));
	CU_ASSERT_FALSE(path_is_within("C:\\a\\..\\b", "C:\\a"));
	CU_ASSERT_FALSE(path_is_within("D:\\a", "C:\\a"));
	CU_ASSERT_FALSE(path_is_within("a", "C:\\"));
}

UNIT_MAIN("path on Windows", {"join", test_join}, {"parts", test_parts},
	  {"absolute", test_absolute}, {"normalize", test_normalize}, {"within", test_within})
