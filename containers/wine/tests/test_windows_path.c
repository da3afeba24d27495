/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/wine/windows_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_steps(const char *text, char drive, const char *steps)
{
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};
	struct text joined CLEANUP_TEXT = {0};
	struct error err = {0};

	CU_ASSERT_EQUAL_FATAL(windows_path_parse(text, "mount target", &path, &err), 0);
	CU_ASSERT_EQUAL(path.drive, drive);
	for (size_t i = 0; i < path.steps.count; i++)
		text_addf(&joined, "%s%s", i > 0 ? "|" : "", path.steps.items[i]);
	UNIT_STRING(text_string(&joined), steps);
}

static void test_paths(void)
{
	expect_steps("C:\\Windows\\System32\\a.dll", 'C', "Windows|System32|a.dll");
	expect_steps("c:/windows\\system32/A.DLL", 'C', "windows|system32|A.DLL");
	expect_steps("Z:\\\\work//x\\", 'Z', "work|x");
	expect_steps("C:\\", 'C', "");
	expect_steps("C:\\a b\\.hidden\\conf\\common.dll\\lpt", 'C',
		     "a b|.hidden|conf|common.dll|lpt");
	expect_steps("C:\\\xc3\xbc\\\xf0\x9f\x98\x80.dll", 'C', "\xc3\xbc|\xf0\x9f\x98\x80.dll");
}

static void expect_refused(const char *text, const char *reason)
{
	struct windows_path path = {0};
	struct error err = {0};

	CU_ASSERT_EQUAL(windows_path_parse(text, "mount target", &path, &err), ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, reason);
	CU_ASSERT_TRUE(text_starts_with(err.text, "mount target"));
	CU_ASSERT_EQUAL(path.steps.count, 0);
}

static void test_refused(void)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"", "empty"},
		{"a.dll", "root of a drive"},
		{"C:a.dll", "root of a drive"},
		{"C:", "root of a drive"},
		{"\\windows", "root of a drive"},
		{"/usr/lib", "root of a drive"},
		{"1:\\a", "root of a drive"},
		{"\\\\server\\share\\a", "network or device"},
		{"//server/share/a", "network or device"},
		{"\\\\?\\C:\\a", "network or device"},
		{"\\\\.\\pipe\\a", "network or device"},
		{"C:\\a\\..\\b", "'..' steps up"},
		{"C:/a/../../b", "'..' steps up"},
		{"C:\\.\\a", "'.' steps up or stays"},
		{"C:\\a\\...", "ends with a dot"},
		{"C:\\a.dll:stream", "alternate data stream"},
		{"C:\\C:\\a", "alternate data stream"},
		{"C:\\a.dll::$DATA", "alternate data stream"},
		{"C:\\a.dll.", "ends with a dot"},
		{"C:\\a \\b", "ends with a dot or a blank"},
		{"C:\\a?\\b", "names cannot have"},
		{"C:\\a*", "names cannot have"},
		{"C:\\a\"b", "names cannot have"},
		{"C:\\a\x01", "control character"},
		{"C:\\a\nb", "control character"},
		{"C:\\a\xff", "not UTF-8"},
		{"C:\\a\xed\xa0\x80", "not UTF-8"},
		{"C:\\nul", "name of a device"},
		{"C:\\a\\CON.txt", "name of a device"},
		{"C:\\Com1.dll", "name of a device"},
		{"C:\\lpt\xc2\xb9", "name of a device"},
		{"C:\\aux .dll", "name of a device"},
	};
	char longest[WINDOWS_PATH_MAX + 8] = "C:\\";

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_refused(cases[i].text, cases[i].reason);
	memset(longest + 3, 'a', WINDOWS_PATH_MAX);
	expect_refused(longest, "longer than");
}

static char *directory;

static int place_of(const char *text, char **out, bool *found, struct error *err)
{
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};

	CU_ASSERT_EQUAL_FATAL(windows_path_parse(text, "path", &path, err), 0);
	return windows_path_below(&path, directory, out, found, err);
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
	return file_make_temporary("/tmp", "windows-path-", &directory, NULL);
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
		{"paths are read", test_paths},
		{"what Windows would read otherwise is refused", test_refused},
		{"places below a directory, whatever the case", test_places},
		CU_TEST_INFO_NULL,
	};

	return unit_run_in("windows_path", suite_begin, suite_end, tests);
}
