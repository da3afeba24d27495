/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/tests/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static char *directory; /* of one test */

static char *in(const char *name)
{
	return path_join(directory, name);
}

static void begin(void)
{
	UNIT_INT(file_make_temporary("/tmp", "gpucert-test-", &directory, NULL), 0);
}

static void end(void)
{
	UNIT_INT(file_remove_tree(directory, NULL), 0);
	CU_ASSERT_FALSE(file_exists(directory));
	free(STEAL(directory));
}

static void test_read_and_write(void)
{
	char *path CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	struct stat status = {0};
	struct error err = {0};
	size_t size = 0;

	begin();
	path = in("file");
	UNIT_INT(file_write_atomic(path, "one\0two \n", 9, 0640, &err), 0);
	UNIT_INT(stat(path, &status), 0);
	UNIT_INT(status.st_mode & 07777, 0640);
	UNIT_INT(file_read(path, 9, &data, &size, &err), 0);
	UNIT_INT(size, 9);
	UNIT_INT(memcmp(data, "one\0two \n", 10), 0);
	free(STEAL(data));
	UNIT_INT(file_read(path, 8, &data, &size, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "/file: longer than 8 bytes");
	UNIT_INT(file_write_atomic(path, "value \n", 7, 0644, &err), 0);
	UNIT_INT(file_read_line(path, &data, &err), 0);
	UNIT_STRING(data, "value");
	free(STEAL(data));
	UNIT_INT(file_read(directory, 10, &data, NULL, &err), ERROR_IO);
	UNIT_INT(file_read("/no/such/file", 10, &data, NULL, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/no/such/file: ");
	UNIT_INT(file_read("/proc/self/stat", 4096, &data, &size, &err), 0);
	CU_ASSERT_TRUE(size > 10);
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
	UNIT_INT(mkdir(path, 0755), 0);
	UNIT_INT(file_write_atomic(path, "x", 1, 0644, &err), ERROR_IO); /* a directory is there */
	UNIT_CONTAINS(err.text, "/file: ");
	UNIT_INT(file_list(directory, &names, NULL), 0);
	UNIT_INT(names.count, 1);
	UNIT_INT(rmdir(path), 0);
	UNIT_INT(file_write_atomic(inside, "x", 1, 0644, &err), ERROR_NOT_FOUND);
	end();
}

static void test_directories(void)
{
	char *deep CLEANUP_FREE = NULL;
	char *file CLEANUP_FREE = NULL;
	char *below_file CLEANUP_FREE = NULL;
	struct error err = {0};

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
	UNIT_INT(file_make_directories(below_file, 0755, &err), ERROR_IO);
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

static void test_remove_does_not_follow_links(void)
{
	char *target CLEANUP_FREE = NULL;
	char *kept CLEANUP_FREE = NULL;
	char *tree CLEANUP_FREE = NULL;
	char *link CLEANUP_FREE = NULL;

	begin();
	target = in("target");
	kept = in("target/kept");
	tree = in("tree");
	link = in("tree/link");
	UNIT_INT(file_make_directories(target, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(kept, "", 0, 0644, NULL), 0);
	UNIT_INT(mkdir(tree, 0755), 0);
	UNIT_INT(symlink(target, link), 0);
	UNIT_INT(file_remove_tree(tree, NULL), 0);
	CU_ASSERT_FALSE(file_exists(tree));
	CU_ASSERT_TRUE(file_exists(kept));
	UNIT_INT(symlink(target, tree), 0);
	UNIT_INT(file_remove_tree(tree, NULL), 0);
	CU_ASSERT_TRUE(file_exists(kept));
	UNIT_INT(file_remove_tree("/no/such/tree", NULL), 0);
	end();
}

static void check_resolve(const char *path, int rc, const char *wanted)
{
	char *resolved CLEANUP_FREE = NULL;

	UNIT_INT(file_resolve(directory, path, &resolved, NULL), rc);
	if (wanted != NULL)
		UNIT_STRING(resolved, wanted);
}

static void test_resolve_stays_below_the_root(void)
{
	static const char *const links[][2] = {
		{"absolute", "/usr/lib/real"},	{"up", "../../../../usr"},
		{"relative", "usr/lib/../lib"}, {"loop", "loop"},
		{"chain", "absolute"},		{"outside", "/etc/passwd"},
		{"usr/lib/link", "real"},	{"slash", "/"},
	};
	char *lib CLEANUP_FREE = NULL;
	char *real CLEANUP_FREE = NULL;

	begin();
	lib = in("usr/lib");
	real = in("usr/lib/real");
	UNIT_INT(file_make_directories(lib, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(real, "", 0, 0644, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		char *link CLEANUP_FREE = in(links[i][0]);

		UNIT_INT(symlink(links[i][1], link), 0);
	}
	check_resolve("/usr//lib/./real", 0, "/usr/lib/real");
	check_resolve("/absolute", 0, "/usr/lib/real");
	check_resolve("/chain", 0, "/usr/lib/real");
	check_resolve("/up/lib/link", 0, "/usr/lib/real");
	check_resolve("/relative/real", 0, "/usr/lib/real");
	check_resolve("/../../usr", 0, "/usr");
	check_resolve("/slash/usr", 0, "/usr");
	check_resolve("/", 0, "/");
	check_resolve("/outside", ERROR_NOT_FOUND, NULL);
	check_resolve("/nothing", ERROR_NOT_FOUND, NULL);
	check_resolve("/usr/lib/real/below", ERROR_NOT_FOUND, NULL);
	check_resolve("/loop", ERROR_LIMIT, NULL);
	check_resolve("usr", ERROR_FORMAT, NULL);
	end();
}

static void test_resolve_of_the_running_system(void)
{
	char *resolved CLEANUP_FREE = NULL;
	char *wanted CLEANUP_FREE = realpath("/proc/self/../1", NULL);

	UNIT_INT(file_resolve(NULL, "/proc/self/../1", &resolved, NULL), 0);
	UNIT_STRING(resolved, wanted);
	free(STEAL(resolved));
	UNIT_INT(file_resolve("/", "/proc/1", &resolved, NULL), 0);
	UNIT_STRING(resolved, "/proc/1");
}

UNIT_MAIN("file", {"read and write", test_read_and_write},
	  {"a failed write leaves nothing", test_failed_write_leaves_nothing},
	  {"directories", test_directories}, {"list", test_list},
	  {"remove does not follow links", test_remove_does_not_follow_links},
	  {"resolve stays below the root", test_resolve_stays_below_the_root},
	  {"resolve of the running system", test_resolve_of_the_running_system})
