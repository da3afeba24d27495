/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/wine/translation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *directory;

static int place_of(const char *text, char **out, bool *found, struct error *err)
{
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};
	CU_ASSERT_EQUAL_FATAL(windows_path_parse(text, "path", &path, err), 0);
	return wine_place(&path, directory, out, found, err);
}

static void expect_place(const char *text, const char *below, bool exists)
{
	char *place CLEANUP_FREE = NULL;
	char *wanted CLEANUP_FREE =
		below[0] != '\0' ? path_join(directory, below) : strdup(directory);
	struct error err = {0};
	bool found = !exists;
	CU_ASSERT_EQUAL_FATAL(place_of(text, &place, &found, &err), 0);
	UNIT_STRING(place, wanted);
	CU_ASSERT_EQUAL(found, exists);
}

static void make(const char *name, bool is_directory)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	CU_ASSERT_EQUAL_FATAL(is_directory ? file_make_directories(path, 0755, NULL)
					   : file_write_atomic(path, "x", 1, 0644, NULL),
			      0);
}

static void test_places(void)
{
	char *link CLEANUP_FREE = path_join(directory, "windows/out");
	char *inner CLEANUP_FREE = path_join(directory, "windows/in");
	char *place CLEANUP_FREE = NULL;
	struct error err = {0};
	bool found = false;
	make("windows/System32", true);
	make("windows/System32/Vulkan-1.dll", false);
	make("windows/exact", false);
	make("windows/Exact", false);
	CU_ASSERT_EQUAL_FATAL(symlink("/etc", link), 0);
	CU_ASSERT_EQUAL_FATAL(symlink("System32", inner), 0);
	expect_place("C:\\WINDOWS\\system32\\vulkan-1.DLL", "windows/System32/Vulkan-1.dll", true);
	expect_place("C:\\Windows\\Exact", "windows/Exact", true);
	expect_place("C:\\windows\\exact", "windows/exact", true);
	expect_place("C:\\", "", true);
	expect_place("C:\\Windows\\System32\\New.DLL", "windows/System32/new.dll", false);
	expect_place("C:\\Windows\\NEW\\More.dll", "windows/new/more.dll", false);
	expect_place("C:\\windows\\exact\\below.dll", "windows/exact/below.dll", false);
	expect_place("C:\\windows\\in\\vulkan-1.dll", "windows/in/Vulkan-1.dll", true);
	CU_ASSERT_EQUAL(place_of("C:\\windows\\out\\passwd", &place, &found, &err), ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, "leads out of");
}

static int suite_begin(void)
{
	return file_make_temporary("/tmp", "place-", &directory, NULL);
}

static int suite_end(void)
{
	int rc = file_remove_tree(directory, NULL);
	free(directory);
	return rc;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"places below a directory, whatever the case", test_places},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("place", suite_begin, suite_end, tests);
}
