/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/tests/unit.h"
#include "base/text.h"

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
	char *relative CLEANUP_FREE = NULL;
	char *beside CLEANUP_FREE = NULL;
	char *tests CLEANUP_FREE = NULL;
	UNIT_INT(path_of_program(&program, NULL), 0);
	CU_ASSERT_TRUE(path_is_absolute(program));
	CU_ASSERT_TRUE(text_starts_with(path_base(program), "test_path"));
	relative = text_format("../tests/./%s", path_base(program));
	UNIT_INT(path_beside_program(relative, &beside, NULL), 0);
	UNIT_STRING(beside, program);
	tests = path_directory(program);
	CU_ASSERT_TRUE(file_is_directory(tests));
}

UNIT_MAIN("path", {"bare names", test_bare_names}, {"program", test_program})
