/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"

static void test_join(void)
{
	static const char *const cases[][3] = {
		{"a", "b", "a/b"}, {"a/", "b", "a/b"},	  {"a", "/b", "a/b"},
		{"/", "b", "/b"},  {"a//", "//b", "a/b"}, {"", "b", "/b"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *joined CLEANUP_FREE = path_join(cases[i][0], cases[i][1]);
		UNIT_STRING(joined, cases[i][2]);
	}
}

static void test_parts(void)
{
	static const char *const cases[][3] = {
		{"/a/b", "b", "/a"}, {"a", "a", "."},	 {"/a", "a", "/"},
		{"/", "", "/"},	     {"a//b", "b", "a"}, {"//a", "a", "/"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *parent CLEANUP_FREE = path_directory(cases[i][0]);
		UNIT_STRING(path_base(cases[i][0]), cases[i][1]);
		UNIT_STRING(parent, cases[i][2]);
	}
}

static void test_normalize(void)
{
	static const char *const cases[][2] = {
		{"/a//b/./c/", "/a/b/c"},
		{"/a/../../b", "/b"},
		{"../a/..", ".."},
		{"a/..", "."},
		{"/", "/"},
		{"", "."},
		{"./a", "a"},
		{"a/../../b", "../b"},
		{"../../a", "../../a"},
		{"/..", "/"},
		{"/a/..b", "/a/..b"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *normal CLEANUP_FREE = path_normalize(cases[i][0]);
		UNIT_STRING(normal, cases[i][1]);
	}
}

static void test_within(void)
{
	CU_ASSERT_TRUE(path_is_within("/a/b", "/a"));
	CU_ASSERT_TRUE(path_is_within("/a/", "/a"));
	CU_ASSERT_TRUE(path_is_within("/a", "/"));
	CU_ASSERT_FALSE(path_is_within("/ab", "/a"));
	CU_ASSERT_FALSE(path_is_within("/a/../b", "/a"));
	CU_ASSERT_FALSE(path_is_within("a", "/"));
}

UNIT_MAIN("path on POSIX systems", {"join", test_join}, {"parts", test_parts},
	  {"normalize", test_normalize}, {"within", test_within})
