/* SPDX-License-Identifier: MIT */
/* Libraries, and what is known of the system. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/library.h"
#include "base/os_version.h"
#include "base/path.h"
#include "base/tests/unit.h"

#include <windows.h>

enum { DLL_SIZE_MAX = 64 * 1024 * 1024 };

static void test_open(void)
{
	void *handle = NULL;
	DWORD(WINAPI * get_version)(void) = NULL;
	char path[512] = "";
	char version[64] = "";
	struct error err = {0};
	UNIT_INT(library_open("version.dll", &handle, &err), 0);
	library_path(handle, path, sizeof(path));
	CU_ASSERT_EQUAL(stricmp(path, "C:\\Windows\\System32\\version.dll"), 0);
	library_version(handle, version, sizeof(version));
	UNIT_CONTAINS(version, ".");
	UNIT_INT(library_open("kernel32.dll", &handle, &err), 0);
	UNIT_INT(library_function(handle, "GetVersion", &get_version, &err), 0);
	CU_ASSERT_TRUE(get_version() != 0);
	UNIT_INT(library_function(handle, "NoSuchFunction", &get_version, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "NoSuchFunction");
}

static void test_what_cannot_be_opened(void)
{
	char *directory CLEANUP_FREE = NULL;
	char *path CLEANUP_FREE = NULL;
	void *handle = NULL;
	struct error err = {0};
	UNIT_INT(library_open("no-such-library.dll", &handle, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "no-such-library.dll");
	UNIT_INT(library_open("C:\\no\\such.dll", &handle, &err), ERROR_NOT_FOUND);
	UNIT_INT(file_make_temporary(unit_temporary(), "gpucert-test-", &directory, NULL), 0);
	path = path_join(directory, "text.dll");
	UNIT_INT(file_write_atomic(path, "no library", 10, 0600, NULL), 0);
	UNIT_INT(library_open(path, &handle, &err), ERROR_UNAVAILABLE);
	UNIT_CONTAINS(err.text, "text.dll");
	UNIT_INT(file_remove_tree(directory, NULL), 0);
}

/* Neither the current folder nor the program's own is looked into for a bare name. */
static void test_nothing_is_planted(void)
{
	char *program CLEANUP_FREE = NULL;
	char *directory CLEANUP_FREE = NULL;
	char *planted CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	char own[MAX_PATH] = "";
	void *handle = NULL;
	size_t size = 0;
	UNIT_INT(library_open("version.dll", &handle, NULL), 0);
	library_path(handle, own, sizeof(own));
	UNIT_INT(file_read(own, DLL_SIZE_MAX, &data, &size, NULL), 0);
	UNIT_INT(path_of_program(&program, NULL), 0);
	directory = path_directory(program);
	planted = path_join(directory, "gpucert-planted.dll");
	UNIT_INT(file_write_atomic(planted, data, size, 0644, NULL), 0);
	UNIT_INT(library_open("gpucert-planted.dll", &handle, NULL), ERROR_NOT_FOUND);
	CU_ASSERT_TRUE(SetCurrentDirectoryA(directory));
	UNIT_INT(library_open("gpucert-planted.dll", &handle, NULL), ERROR_NOT_FOUND);
	UNIT_INT(file_remove_tree(planted, NULL), 0);
}

static void test_system(void)
{
	struct os_version version = {0};
	UNIT_INT(os_version_read(&version, NULL), 0);
	UNIT_INT(version.major, 10);
	CU_ASSERT_TRUE(version.build >= 17763);
	UNIT_CONTAINS(version.product, "Windows");
	if (version.build >= 22000 && strstr(version.product, "Server") == NULL)
		UNIT_CONTAINS(version.product, "Windows 11");
	CU_ASSERT_TRUE(text_starts_with(version.kernel, "10.0."));
}

UNIT_MAIN("libraries", {"open", test_open}, {"what cannot be opened", test_what_cannot_be_opened},
	  {"nothing is planted", test_nothing_is_planted}, {"the system", test_system})
