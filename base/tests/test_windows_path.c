/* SPDX-License-Identifier: MIT */
#include "base/windows_path.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/windows_device.h"

#include <string.h>

static void expect_names(const char *text, char drive, const char *names)
{
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};
	struct text joined CLEANUP_TEXT = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(windows_path_parse(text, "mount target", &path, &err), 0);
	CU_ASSERT_EQUAL(path.drive, drive);
	text_add_joined(&joined, "|", (const char *const *)path.names.items);
	UNIT_STRING(text_string(&joined), names);
}

static void test_paths(void)
{
	expect_names("C:\\Windows\\System32\\a.dll", 'C', "Windows|System32|a.dll");
	expect_names("c:/windows\\system32/A.DLL", 'C', "windows|system32|A.DLL");
	expect_names("Z:\\\\work//x\\", 'Z', "work|x");
	expect_names("C:\\", 'C', "");
	expect_names("C:\\a b\\.hidden\\conf\\common.dll\\lpt", 'C',
		     "a b|.hidden|conf|common.dll|lpt");
	expect_names("C:\\\xc3\xbc\\\xf0\x9f\x98\x80.dll", 'C', "\xc3\xbc|\xf0\x9f\x98\x80.dll");
}

static void expect_refused(const char *text, const char *reason)
{
	struct windows_path path = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL(windows_path_parse(text, "mount target", &path, &err), ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, reason);
	CU_ASSERT_TRUE(text_starts_with(err.text, "mount target"));
	CU_ASSERT_EQUAL(path.names.count, 0);
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

static void test_names(void)
{
	static const char *const bad[] = {
		"",	    ".",    "..",     "a/b", "a\\b",	    "a:b",	     "a.",
		"a ",	    "CON",  "con",    "NUL", "nul.txt",	    "nul .txt",	     "COM1",
		"lpt9.dll", "AUX.", "PRN.a",  "a*",  "a?",	    "CONOUT$",	     "\"a\"",
		"<",	    "a|b",  "a\x01",  "C:",  "COM\xc2\xb9", "lpt\xc2\xb3.x", "\x7f",
		"a\xff",    "com1", "clock$",
	};
	static const char *const good[] = {
		"nvapi64.dll", "COM10", "CONSOLE", "a.b.c", "nul1", "\xc3\xa9", ".hidden", "a b",
	};
	char longest[WINDOWS_NAME_MAX + 2] = "";
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CU_ASSERT_FALSE(windows_path_is_name(bad[i]));
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CU_ASSERT_TRUE(windows_path_is_name(good[i]));
	memset(longest, 'a', WINDOWS_NAME_MAX);
	CU_ASSERT_TRUE(windows_path_is_name(longest));
	longest[WINDOWS_NAME_MAX] = 'a';
	CU_ASSERT_FALSE(windows_path_is_name(longest));
}

static void test_predicates(void)
{
	CU_ASSERT_TRUE(windows_path_is_relative("a\\b/c.dll"));
	CU_ASSERT_FALSE(windows_path_is_relative("a\\\\b"));
	CU_ASSERT_FALSE(windows_path_is_relative("a\\"));
	CU_ASSERT_FALSE(windows_path_is_relative("\\a"));
	CU_ASSERT_FALSE(windows_path_is_relative("a\\..\\b"));
	CU_ASSERT_TRUE(windows_path_is_absolute("c:/a"));
	CU_ASSERT_FALSE(windows_path_is_absolute("C:\\"));
	CU_ASSERT_FALSE(windows_path_is_absolute("C:a"));
	CU_ASSERT_FALSE(windows_path_is_absolute("\\\\server\\share\\a"));
	CU_ASSERT_TRUE(windows_path_is_within("c:/WINDOWS/a/b", "C:\\Windows\\"));
	CU_ASSERT_FALSE(windows_path_is_within("C:\\Windows2\\a", "C:\\Windows"));
	CU_ASSERT_FALSE(windows_path_is_within("C:\\Windows\\", "C:\\Windows"));
	CU_ASSERT_TRUE(windows_path_is_in("c:\\windows/system32\\a.dll", WINDOWS_SYSTEM32));
	CU_ASSERT_FALSE(windows_path_is_in(WINDOWS_SYSTEM32 "\\drivers\\a.dll", WINDOWS_SYSTEM32));
	CU_ASSERT_FALSE(windows_path_is_in(WINDOWS_SYSTEM32 "\\NUL", WINDOWS_SYSTEM32));
	CU_ASSERT_FALSE(windows_path_is_in(WINDOWS_SYSTEM32 "\\com1.dll", WINDOWS_SYSTEM32));
	UNIT_STRING(windows_path_base("a\\b/c.dll"), "c.dll");
	UNIT_STRING(windows_path_base("c.dll"), "c.dll");
}

static void test_devices(void)
{
	static const struct {
		const char *host_path, *reason;
	} bad[] = {
		{"vpci-location-path/X", "IDType://ID"},
		{"", "IDType://ID"},
		{"://X", "no id type"},
		{"class/", "no id"},
		{"class://", "no id"},
	};
	struct windows_device device = {0};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error err = {0};
		UNIT_INT(windows_device_parse(bad[i].host_path, &device, &err), ERROR_ARGUMENT);
		UNIT_CONTAINS(err.text, bad[i].reason);
	}
	UNIT_INT(windows_device_parse("gpu://X", &device, NULL), 0);
	UNIT_INT(device.type, WINDOWS_DEVICE_OTHER);
	UNIT_STRING(device.id, "X");
	UNIT_INT(windows_device_parse("class/X", &device, NULL), 0);
	UNIT_INT(device.type, WINDOWS_DEVICE_CLASS);
	UNIT_STRING(device.id, "X");
	CU_ASSERT_TRUE(windows_device_is_guid(WINDOWS_DISPLAY_CLASS));
	CU_ASSERT_FALSE(windows_device_is_guid("{" WINDOWS_DISPLAY_CLASS "}"));
	CU_ASSERT_FALSE(windows_device_is_guid("5B45201D"));
	CU_ASSERT_FALSE(windows_device_is_guid(""));
}

static void test_backslashes(void)
{
	char path[] = "a/b\\c//d";
	windows_path_use_backslashes(path);
	UNIT_STRING(path, "a\\b\\c\\\\d");
}

UNIT_MAIN("windows_path", {"backslashes", test_backslashes}, {"paths are read", test_paths},
	  {"what Windows would read otherwise is refused", test_refused}, {"names", test_names},
	  {"predicates", test_predicates}, {"device strings", test_devices})
