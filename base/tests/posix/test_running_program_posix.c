/* SPDX-License-Identifier: MIT */
#include "base/running_program.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"

#include <string.h>
#include <unistd.h>

static void test_this_program(void)
{
	struct running_program program CLEANUP_RUNNING_PROGRAM = {0};
	char *path CLEANUP_FREE = NULL;
	char *found CLEANUP_FREE = NULL;
	char saw[DIGEST_SIZE] = "";
	char wanted[DIGEST_SIZE] = "";
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(path_of_program(&path, &err), 0);
	CU_ASSERT_EQUAL_FATAL(running_program_read(getpid(), &program, &err), 0);
	UNIT_STRING(program.name, path_base(path));
	CU_ASSERT_EQUAL(digest_file(program.file, saw, NULL, NULL), 0);
	CU_ASSERT_EQUAL(digest_file(path, wanted, NULL, NULL), 0);
	UNIT_STRING(saw, wanted);
	CU_ASSERT_TRUE(program.words.count >= 1);
	found = running_program_find(&program, "sh");
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_TRUE(file_exists(found));
}

static void test_paths(void)
{
	struct running_program program CLEANUP_RUNNING_PROGRAM = {0};
	char *relative CLEANUP_FREE = NULL;
	char *folder CLEANUP_FREE = NULL;
	char *missing CLEANUP_FREE = NULL;
	CU_ASSERT_EQUAL_FATAL(running_program_read(getpid(), &program, NULL), 0);
	free(program.directory);
	program.directory = strdup("/etc");
	relative = running_program_path(&program, "passwd");
	CU_ASSERT_PTR_NOT_NULL(relative);
	folder = running_program_path(&program, "/etc");
	CU_ASSERT_PTR_NULL(folder);
	missing = running_program_find(&program, "no-such-program");
	CU_ASSERT_PTR_NULL(missing);
}

static void test_no_process(void)
{
	struct running_program program = {0};
	struct error err = {0};
	CU_ASSERT_TRUE(running_program_read(0x7fffffff, &program, &err) < 0);
	CU_ASSERT_PTR_NULL(program.name);
}

UNIT_MAIN("running programs", {"this program", test_this_program}, {"its paths", test_paths},
	  {"no process", test_no_process})
