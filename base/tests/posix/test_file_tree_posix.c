/* SPDX-License-Identifier: MIT */
/* Trees that resist: what a plugin may leave in its directory. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/own_directory.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_NAME "a-folder-with-a-name-that-soon-makes-the-path-too-long"

static void put(const char *name)
{
	char *path CLEANUP_FREE = in(name);
	UNIT_INT(file_write_atomic(path, "", 0, 0644, NULL), 0);
}

static void make(const char *name)
{
	char *path CLEANUP_FREE = in(name);
	UNIT_INT(file_make_directories(path, 0755, NULL), 0);
}

static bool is_there(const char *name)
{
	char *path CLEANUP_FREE = in(name);
	return file_exists(path);
}

static int remove_tree(const char *name, struct error *err)
{
	char *path CLEANUP_FREE = in(name);
	return file_remove_tree(path, err);
}

/* Folders in folders, with a file in each. */
static void nest(const char *name, int depth)
{
	char *path CLEANUP_FREE = in(name);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < depth; i++) {
		int file CLEANUP_FD = openat(fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		int below = -1;
		CU_ASSERT_EQUAL_FATAL(mkdirat(fd, LONG_NAME, 0755), 0);
		below = openat(fd, LONG_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CU_ASSERT_FATAL(file >= 0 && below >= 0);
		(void)close(fd);
		fd = below;
	}
}

static void test_depth_has_no_limit(void)
{
	struct rlimit before = {0};
	struct rlimit few = {0};
	begin();
	make("tree");
	nest("tree", 3000);
	UNIT_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){.rlim_cur = 64, .rlim_max = before.rlim_max};
	UNIT_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
	UNIT_INT(remove_tree("tree", NULL), 0);
	UNIT_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
	CU_ASSERT_FALSE(is_there("tree"));
	end();
}

static void test_folders_without_rights(void)
{
	char *path CLEANUP_FREE = NULL;
	begin();
	make("tree/closed/below");
	path = in("tree/closed");
	UNIT_INT(chmod(path, 0555), 0);
	UNIT_INT(remove_tree("tree", NULL), 0);
	end();
}

static bool set_immutable(const char *name, bool immutable)
{
	char *path CLEANUP_FREE = in(name);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	int flags = 0;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return false;
	flags = immutable ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}

static void test_what_cannot_be_removed_stays_alone(void)
{
	struct error err = {0};
	begin();
	make("tree/a");
	make("tree/b");
	put("tree/a/stays");
	put("tree/a/goes");
	put("tree/b/goes");
	if (set_immutable("tree/a/stays", true)) {
		CU_ASSERT(remove_tree("tree", &err) < 0);
		UNIT_CONTAINS(err.text, "tree/a/stays: Operation not permitted");
		CU_ASSERT_TRUE(is_there("tree/a/stays"));
		CU_ASSERT_FALSE(is_there("tree/a/goes"));
		CU_ASSERT_FALSE(is_there("tree/b"));
		CU_ASSERT_TRUE(set_immutable("tree/a/stays", false));
	}
	end();
}

/* The file system is the same one, so device numbers do not tell. */
static void test_mounts_are_not_entered(void)
{
	char *source CLEANUP_FREE = NULL;
	char *file CLEANUP_FREE = NULL;
	char *target CLEANUP_FREE = NULL;
	char *target_file CLEANUP_FREE = NULL;
	struct error err = {0};
	if (unshare(CLONE_NEWNS) != 0)
		return;
	begin();
	source = in("precious");
	file = in("precious/file");
	target = in("tree/deep/mount");
	target_file = in("tree/file");
	make("precious");
	put("precious/file");
	make("tree/deep/mount");
	put("tree/file");
	put("tree/goes");
	UNIT_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	UNIT_INT(mount(source, target, NULL, MS_BIND, NULL), 0);
	UNIT_INT(mount(file, target_file, NULL, MS_BIND, NULL), 0);
	CU_ASSERT(remove_tree("tree", &err) < 0);
	UNIT_CONTAINS(err.text, "tree/");
	UNIT_CONTAINS(err.text, ": a mount point");
	CU_ASSERT_TRUE(is_there("precious/file"));
	CU_ASSERT_FALSE(is_there("tree/goes"));
	UNIT_INT(umount2(target, 0), 0);
	UNIT_INT(umount2(target_file, 0), 0);
	end();
}

UNIT_MAIN("trees of files on POSIX systems", {"depth has no limit", test_depth_has_no_limit},
	  {"folders without rights", test_folders_without_rights},
	  {"what cannot be removed stays alone", test_what_cannot_be_removed_stays_alone},
	  {"mounts are not entered", test_mounts_are_not_entered})
