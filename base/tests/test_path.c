/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/tests/unit.h"
#include "base/text.h"

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

static void test_bare_names(void)
{
	static const char *const bad[] = {"", ".", "..", "a/b", "a\\b", "a\n", "\x7f"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CU_ASSERT_FALSE(path_is_bare_name(bad[i]));
	CU_ASSERT_TRUE(path_is_bare_name("gpu.sock"));
	CU_ASSERT_TRUE(path_is_bare_name("..."));
	CU_ASSERT_TRUE(path_is_bare_name("\xc3\xa9"));
}

static void test_program(void)
{
	char *program CLEANUP_FREE = NULL;
	char *beside CLEANUP_FREE = NULL;
	char *tests CLEANUP_FREE = NULL;

	UNIT_INT(path_of_program(&program, NULL), 0);
	CU_ASSERT_TRUE(path_is_absolute(program));
	UNIT_STRING(path_base(program), "test_path");
	UNIT_INT(path_beside_program("../tests/./test_path", &beside, NULL), 0);
	UNIT_STRING(beside, program);
	tests = path_directory(program);
	CU_ASSERT_TRUE(file_is_directory(tests));
}

UNIT_MAIN("path", {"join", test_join}, {"parts", test_parts}, {"normalize", test_normalize},
	  {"within", test_within}, {"bare names", test_bare_names}, {"program", test_program})
