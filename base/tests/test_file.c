/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/tests/own_directory.h"

#include <unistd.h>

static void test_read_and_write(void)
{
	char *path CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	struct error err = {0};
	size_t size = 0;
	begin();
	path = in("file");
	UNIT_INT(file_write_atomic(path, "one\0two \n", 9, 0640, &err), 0);
	UNIT_INT(file_read(path, 9, &data, &size, &err), 0);
	UNIT_INT(size, 9);
	UNIT_INT(memcmp(data, "one\0two \n", 10), 0);
	free(STEAL(data));
	UNIT_INT(file_read(path, 8, &data, &size, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "file: longer than 8 bytes");
	UNIT_INT(file_write_atomic(path, "value \n", 7, 0644, &err), 0);
	UNIT_INT(file_read_line(path, &data, &err), 0);
	UNIT_STRING(data, "value");
	free(STEAL(data));
	UNIT_INT(file_read(directory, 10, &data, NULL, &err), ERROR_IO);
	UNIT_INT(file_read("/no/such/file", 10, &data, NULL, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/no/such/file: ");
	UNIT_INT(file_write_atomic(path, "", 0, 0644, &err), 0);
	UNIT_INT(file_read(path, 0, &data, &size, &err), 0);
	UNIT_INT(size, 0);
	UNIT_STRING(data, "");
	end();
}

static void test_failed_write_leaves_nothing(void)
{
	char *path CLEANUP_FREE = NULL;
	char *inside CLEANUP_FREE = NULL;
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	begin();
	path = in("file");
	inside = in("file/below");
	UNIT_INT(file_make_directories(path, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(path, "x", 1, 0644, &err), ERROR_IO); /* a directory is there */
	UNIT_CONTAINS(err.text, "file: ");
	UNIT_INT(file_list(directory, &names, NULL), 0);
	UNIT_INT(names.count, 1);
	UNIT_INT(file_remove_tree(path, NULL), 0);
	UNIT_INT(file_write_atomic(inside, "x", 1, 0644, &err), ERROR_NOT_FOUND);
	end();
}

/* Whoever else makes one. */
static void test_a_new_file_is_new(void)
{
	char *path CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	begin();
	path = in("new");
	UNIT_INT(file_create(path, "one", 3, 0600, &err), 0);
	UNIT_INT(file_create(path, "two", 3, 0600, &err), ERROR_EXISTS);
	UNIT_CONTAINS(err.text, "new: ");
	UNIT_INT(file_read(path, 9, &data, NULL, &err), 0);
	UNIT_STRING(data, "one");
	UNIT_INT(file_list(directory, &names, NULL), 0);
	UNIT_INT(names.count, 1);
	UNIT_INT(file_create("/no/such/file", "", 0, 0600, &err), ERROR_NOT_FOUND);
	end();
}

static void test_directories_are_locked_once(void)
{
	char *other CLEANUP_FREE = NULL;
	struct error err = {0};
	int lock CLEANUP_FD = -1;
	int second CLEANUP_FD = -1;
	begin();
	other = in("other");
	UNIT_INT(file_lock_directory(directory, &lock, &err), 0);
	UNIT_INT(file_lock_directory(directory, &second, &err), ERROR_BUSY);
	UNIT_CONTAINS(err.text, ": in use");
	UNIT_INT(file_make_directories(other, 0700, &err), 0);
	UNIT_INT(file_lock_directory(other, &second, &err), 0);
	(void)close(STEAL_FD(second));
	(void)close(STEAL_FD(lock));
	UNIT_INT(file_lock_directory(directory, &lock, &err), 0);
	(void)close(STEAL_FD(lock));
	UNIT_INT(file_lock_directory("/no/such/folder", &second, &err), ERROR_NOT_FOUND);
	end();
}

static void test_directories(void)
{
	char *deep CLEANUP_FREE = NULL;
	char *file CLEANUP_FREE = NULL;
	char *below_file CLEANUP_FREE = NULL;
	struct error err = {0};
	int rc = 0;
	begin();
	deep = in("a/b//c/");
	file = in("file");
	below_file = in("file/x");
	UNIT_INT(file_make_directories(deep, 0755, &err), 0);
	UNIT_INT(file_make_directories(deep, 0755, &err), 0);
	CU_ASSERT_TRUE(file_is_directory(deep));
	UNIT_INT(file_write_atomic(file, "", 0, 0644, NULL), 0);
	CU_ASSERT_FALSE(file_is_directory(file));
	UNIT_INT(file_make_directories(file, 0755, &err), ERROR_EXISTS);
	rc = file_make_directories(below_file, 0755, &err);
	CU_ASSERT_TRUE(rc == ERROR_IO || rc == ERROR_EXISTS);
	UNIT_INT(file_make_directories("", 0755, &err), ERROR_ARGUMENT);
	UNIT_INT(file_make_directories("/", 0755, &err), 0);
	UNIT_INT(file_make_temporary("/no/such", "x", &deep, &err), ERROR_NOT_FOUND);
	end();
}

static void test_list(void)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	begin();
	for (const char *const *name = (const char *const[]){"b", "a", ".c", NULL}; *name != NULL;
	     name++) {
		char *path CLEANUP_FREE = in(*name);
		UNIT_INT(file_write_atomic(path, "", 0, 0644, NULL), 0);
	}
	UNIT_INT(file_list(directory, &names, &err), 0);
	UNIT_INT(names.count, 3);
	UNIT_STRING(names.items[0], ".c");
	UNIT_STRING(names.items[2], "b");
	UNIT_INT(file_list("/no/such", &names, &err), ERROR_NOT_FOUND);
	end();
}

UNIT_MAIN("file", {"read and write", test_read_and_write},
	  {"a failed write leaves nothing", test_failed_write_leaves_nothing},
	  {"a new file is new", test_a_new_file_is_new},
	  {"directories are locked once", test_directories_are_locked_once},
	  {"directories", test_directories}, {"list", test_list})
