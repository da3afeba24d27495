/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/os_version.h"
#include "base/path.h"
#include "base/tests/own_directory.h"
#include "base/windows/wide.h"

#include <io.h>
#include <windows.h>

#include <aclapi.h>

static bool is_wine(void)
{
	struct os_version version = {0};
	return os_version_read(&version, NULL) == 0 && version.wine[0] != '\0';
}

static void test_names(void)
{
	/* A letter with an accent, a sign beyond 16 bits. */
	static const char name[] = "\xc3\xa9 \xf0\x9f\x98\x80.txt";
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *path CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	begin();
	path = in(name);
	UNIT_INT(file_write_atomic(path, "x", 1, 0600, NULL), 0);
	UNIT_INT(file_read(path, 10, &data, NULL, NULL), 0);
	UNIT_INT(file_list(directory, &names, NULL), 0);
	UNIT_INT(names.count, 1);
	UNIT_STRING(names.items[0], name);
	end();
}

static void test_long_paths(void)
{
	struct text path CLEANUP_TEXT = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *file CLEANUP_FREE = NULL;
	char *made CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	char *real CLEANUP_FREE = NULL;
	struct error err = {0};
	begin();
	text_add(&path, directory);
	for (int i = 0; i < 10; i++)
		text_add(&path, "/a-name-that-is-repeated-until-the-path-is-long");
	UNIT_INT(file_make_directories(text_string(&path), 0700, NULL), 0);
	CU_ASSERT_TRUE(file_is_directory(text_string(&path)));
	file = path_join(text_string(&path), "file");
	UNIT_INT(file_write_atomic(file, "x", 1, 0600, NULL), 0);
	UNIT_INT(file_write_atomic(file, "yz", 2, 0644, NULL), 0);
	UNIT_INT(file_read(file, 10, &data, NULL, NULL), 0);
	UNIT_STRING(data, "yz");
	UNIT_INT(file_make_temporary(text_string(&path), "t-", &made, NULL), 0);
	CU_ASSERT_TRUE(file_is_directory(made));
	UNIT_INT(file_list(text_string(&path), &names, NULL), 0);
	UNIT_INT(names.count, 2);
	/* Wine has no room for it. */
	UNIT_INT(file_resolve(NULL, file, &real, &err), is_wine() ? ERROR_IO : 0);
	CU_ASSERT_TRUE(text_ends_with(real != NULL ? real : err.text,
				      is_wine() ? "unknown error" : "-is-long\\file"));
	end();
}

static void test_what_is_no_file(void)
{
	static const char *const paths[] = {"NUL", "\\\\.\\NUL"};
	char *data CLEANUP_FREE = NULL;
	struct error err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		UNIT_INT(file_read(paths[i], 10, &data, NULL, &err), ERROR_IO);
		UNIT_CONTAINS(err.text, "not a regular file");
	}
	UNIT_INT(file_read("C:\\Windows", 10, &data, NULL, &err), ERROR_IO);
	UNIT_CONTAINS(err.text, "C:\\Windows: is a directory");
}

static void test_sharing(void)
{
	char *path CLEANUP_FREE = NULL;
	wchar_t *wide CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	HANDLE exclusive = NULL;
	struct error err = {0};
	begin();
	path = in("file");
	UNIT_INT(file_write_atomic(path, "x", 1, 0644, NULL), 0);
	wide = wide_path(path);
	exclusive = CreateFileW(wide, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
	UNIT_INT(file_read(path, 10, &data, NULL, &err), ERROR_BUSY);
	UNIT_CONTAINS(err.text, path);
	(void)CloseHandle(exclusive);
	end();
}

static void test_a_file_is_replaced_under_a_reader(void)
{
	char *path CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char byte = 0;
	int fd = -1;
	int rc = 0;
	begin();
	path = in("file");
	UNIT_INT(file_write_atomic(path, "old", 3, 0644, NULL), 0);
	UNIT_INT(file_open_to_read(path, &fd, NULL), 0);
	rc = file_write_atomic(path, "new", 3, 0644, NULL);
	/* Wine has only the older way to rename, which refuses and leaves the file as it was. */
	UNIT_INT(rc, is_wine() ? ERROR_PERMISSION : 0);
	UNIT_INT(_read(fd, &byte, 1), 1);
	UNIT_INT(byte, 'o');
	UNIT_INT(file_read(path, 10, &data, NULL, NULL), 0);
	UNIT_STRING(data, is_wine() ? "old" : "new");
	UNIT_INT(file_list(directory, &names, NULL), 0);
	UNIT_INT(names.count, 1);
	(void)_close(fd);
	end();
}

/* Entries of the list, and whether it inherits. */
static unsigned access_entries(const char *path, bool *inherits)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	PSECURITY_DESCRIPTOR descriptor = NULL;
	SECURITY_DESCRIPTOR_CONTROL control = 0;
	DWORD revision = 0;
	PACL list = NULL;
	unsigned count = 0;
	UNIT_INT(GetNamedSecurityInfoW(wide, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, NULL, NULL,
				       &list, NULL, &descriptor),
		 0);
	(void)GetSecurityDescriptorControl(descriptor, &control, &revision);
	*inherits = (control & SE_DACL_PROTECTED) == 0;
	count = list != NULL ? list->AceCount : 0;
	(void)LocalFree(descriptor);
	return count;
}

static void test_private_files(void)
{
	static const char *const names[] = {"file", "folder"};
	bool inherits = true;
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *path CLEANUP_FREE = in(names[i]);
		UNIT_INT(i == 0 ? file_write_atomic(path, "", 0, 0600, NULL)
				: file_make_directories(path, 0700, NULL),
			 0);
		/* Wine makes the bits of a mode of them: two entries, and no flag. */
		UNIT_INT(access_entries(path, &inherits), is_wine() ? 2 : 3);
		CU_ASSERT_TRUE(!inherits || is_wine());
	}
	end();
}

static void test_read_only_files_are_removed(void)
{
	char *path CLEANUP_FREE = NULL;
	wchar_t *wide CLEANUP_FREE = NULL;
	begin();
	path = in("file");
	UNIT_INT(file_write_atomic(path, "x", 1, 0644, NULL), 0);
	wide = wide_path(path);
	CU_ASSERT_TRUE(SetFileAttributesW(wide, FILE_ATTRIBUTE_READONLY));
	end();
}

static void test_links_are_not_followed(void)
{
	char *target CLEANUP_FREE = NULL;
	char *kept CLEANUP_FREE = NULL;
	char *tree CLEANUP_FREE = NULL;
	char *link CLEANUP_FREE = NULL;
	wchar_t *wide_link CLEANUP_FREE = NULL;
	wchar_t *wide_target CLEANUP_FREE = NULL;
	begin();
	target = in("target");
	kept = in("target\\kept");
	tree = in("tree");
	link = in("tree\\link");
	UNIT_INT(file_make_directories(target, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(kept, "", 0, 0644, NULL), 0);
	UNIT_INT(file_make_directories(tree, 0755, NULL), 0);
	wide_link = wide_path(link);
	wide_target = wide_path(target);
	/* Wine says that it made one, and did not. */
	CU_ASSERT_TRUE(CreateSymbolicLinkW(wide_link, wide_target, SYMBOLIC_LINK_FLAG_DIRECTORY));
	CU_ASSERT_TRUE(file_is_directory(link) || is_wine());
	UNIT_INT(file_remove_tree(tree, NULL), 0);
	CU_ASSERT_FALSE(file_exists(tree));
	CU_ASSERT_TRUE(file_exists(kept));
	end();
}

static void test_resolve(void)
{
	char *inner CLEANUP_FREE = NULL;
	char *resolved CLEANUP_FREE = NULL;
	char *wanted CLEANUP_FREE = NULL;
	struct error err = {0};
	begin();
	inner = in("a\\b");
	UNIT_INT(file_make_directories(inner, 0755, NULL), 0);
	UNIT_INT(file_resolve(directory, "/a/./b/../b", &resolved, &err), 0);
	UNIT_STRING(resolved, "\\a\\b");
	free(STEAL(resolved));
	UNIT_INT(file_resolve(directory, "\\..\\..\\a", &resolved, &err), 0);
	UNIT_STRING(resolved, "\\a");
	free(STEAL(resolved));
	UNIT_INT(file_resolve(directory, "\\", &resolved, &err), 0);
	UNIT_STRING(resolved, "\\");
	free(STEAL(resolved));
	UNIT_INT(file_resolve(directory, "a", &resolved, &err), ERROR_FORMAT);
	UNIT_INT(file_resolve(directory, "\\nothing", &resolved, &err), ERROR_NOT_FOUND);
	UNIT_INT(file_resolve(NULL, "c:/windows/../windows/system32", &resolved, &err), 0);
	CU_ASSERT_EQUAL(stricmp(resolved, "C:\\Windows\\System32"), 0);
	end();
}

UNIT_MAIN("file on Windows", {"names", test_names}, {"long paths", test_long_paths},
	  {"what is no file", test_what_is_no_file}, {"sharing", test_sharing},
	  {"a file is replaced under a reader", test_a_file_is_replaced_under_a_reader},
	  {"private files", test_private_files},
	  {"read-only files are removed", test_read_only_files_are_removed},
	  {"links are not followed", test_links_are_not_followed}, {"resolve", test_resolve})
