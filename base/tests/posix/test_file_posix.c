/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/tests/own_directory.h"

#include <sys/stat.h>
#include <unistd.h>

static void test_modes(void)
{
	char *path CLEANUP_FREE = NULL;
	struct stat status = {0};
	begin();
	path = in("file");
	UNIT_INT(file_write_atomic(path, "x", 1, 0640, NULL), 0);
	UNIT_INT(stat(path, &status), 0);
	UNIT_INT(status.st_mode & 07777, 0640);
	UNIT_INT(file_remove_tree(path, NULL), 0);
	UNIT_INT(symlink("nowhere", path), 0);
	UNIT_INT(file_create(path, "x", 1, 0600, NULL), ERROR_EXISTS);
	UNIT_INT(unlink(path), 0);
	UNIT_INT(file_create(path, "x", 1, 0600, NULL), 0);
	UNIT_INT(stat(path, &status), 0);
	UNIT_INT(status.st_mode & 07777, 0600);
	end();
}

static void test_files_of_the_kernel(void)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	UNIT_INT(file_read("/proc/self/stat", 4096, &data, &size, NULL), 0);
	CU_ASSERT_TRUE(size > 10);
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

/* As root a rename would take the place of /dev/stdout itself. */
static void test_no_file_takes_the_place_of_a_stream(void)
{
	char *link CLEANUP_FREE = NULL;
	char *pipe CLEANUP_FREE = NULL;
	struct file_status status = {0};
	struct error err = {0};
	begin();
	link = in("stdout");
	pipe = in("pipe");
	UNIT_INT(symlink("/proc/self/fd/0", link), 0);
	UNIT_INT(mkfifo(pipe, 0600), 0);
	UNIT_INT(file_write_atomic(link, "x", 1, 0644, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "stdout: a pipe or a device");
	UNIT_INT(file_write_atomic(pipe, "x", 1, 0644, &err), ERROR_FORMAT);
	UNIT_INT(file_status(link, false, &status, NULL), 0);
	UNIT_INT(status.kind, FILE_LINK);
	UNIT_INT(file_status(pipe, false, &status, NULL), 0);
	UNIT_INT(status.kind, FILE_OTHER);
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

UNIT_MAIN("file on POSIX systems", {"modes", test_modes},
	  {"files of the kernel", test_files_of_the_kernel},
	  {"remove does not follow links", test_remove_does_not_follow_links},
	  {"no file takes the place of a stream", test_no_file_takes_the_place_of_a_stream},
	  {"resolve stays below the root", test_resolve_stays_below_the_root},
	  {"resolve of the running system", test_resolve_of_the_running_system})
