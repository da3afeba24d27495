/* SPDX-License-Identifier: MIT */
/* A directory is held only where no other user can redirect it. */
#include "base/tests/own_directory.h"

#include <sys/stat.h>
#include <unistd.h>

enum { STRANGER = 65534 };

static int hold(const char *name, char **held, int *lock, struct error *err)
{
	char *path CLEANUP_FREE = in(name);
	return file_hold_directory(path, 0755, lock, held, err);
}

static void refused(const char *name, int code, const char *part)
{
	char *held CLEANUP_FREE = NULL;
	int lock CLEANUP_FD = -1;
	struct error err = {0};
	UNIT_INT(hold(name, &held, &lock, &err), code);
	UNIT_CONTAINS(err.text, part);
	UNIT_INT(lock, -1);
}

static void link_to(const char *target, const char *name, uid_t owner)
{
	char *path CLEANUP_FREE = in(name);
	UNIT_INT(symlink(target, path), 0);
	UNIT_INT(lchown(path, owner, (gid_t)-1), 0);
}

static void make(const char *name, mode_t mode)
{
	char *path CLEANUP_FREE = in(name);
	UNIT_INT(mkdir(path, 0700), 0);
	UNIT_INT(chmod(path, mode), 0);
}

static void test_held_wherever_it_goes(void)
{
	char *held CLEANUP_FREE = NULL;
	char *again CLEANUP_FREE = NULL;
	char *from CLEANUP_FREE = NULL;
	char *to CLEANUP_FREE = NULL;
	char *inside CLEANUP_FREE = NULL;
	char *moved CLEANUP_FREE = NULL;
	int lock CLEANUP_FD = -1;
	int other CLEANUP_FD = -1;
	struct error err = {0};
	begin();
	from = in("new/folder");
	to = in("away");
	moved = in("away/file");
	make("elsewhere", 0755);
	UNIT_INT(hold("new//./folder/", &held, &lock, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(hold("new/folder", &again, &other, &err), ERROR_BUSY);
	UNIT_CONTAINS(err.text, "new/folder: in use");
	UNIT_INT(rename(from, to), 0);
	link_to("../elsewhere", "new/folder", geteuid());
	inside = path_join(held, "file");
	UNIT_INT(file_write_atomic(inside, "x", 1, 0644, &err), 0);
	CU_ASSERT_TRUE(file_exists(moved));
	end();
}

static void test_links(void)
{
	char *held CLEANUP_FREE = NULL;
	int lock CLEANUP_FD = -1;
	struct error err = {0};
	char *far CLEANUP_FREE = NULL;
	char *made CLEANUP_FREE = NULL;
	begin();
	far = in("far");
	made = in("far/made");
	make("far", 0755);
	link_to("far", "mine", geteuid());
	UNIT_INT(hold("mine/made", &held, &lock, &err), 0);
	CU_ASSERT_TRUE(file_is_directory(made));
	link_to("loop", "loop", geteuid());
	refused("loop", ERROR_LIMIT, "too many symbolic links");
	if (geteuid() == 0) {
		link_to(far, "theirs", STRANGER);
		refused("theirs", ERROR_PERMISSION, "symbolic link of another user (uid 65534)");
		refused("theirs/new", ERROR_PERMISSION, "symbolic link of another user");
		char *nothing CLEANUP_FREE = in("far/new");
		CU_ASSERT_FALSE(file_exists(nothing));
	}
	end();
}

static void test_what_others_may_write(void)
{
	struct error err = {0};
	begin();
	char *path CLEANUP_FREE = in("shared");
	char *pipe CLEANUP_FREE = in("pipe");
	make("shared", 0777);
	make("group", 0775);
	make("sticky", 01777);
	UNIT_INT(mkfifo(pipe, 0600), 0);
	refused("shared", ERROR_PERMISSION, "other users may write there");
	refused("group", ERROR_PERMISSION, "chmod go-w");
	refused("sticky", ERROR_PERMISSION, "other users may write there");
	refused("pipe", ERROR_EXISTS, "not a directory");
	refused("pipe/below", ERROR_EXISTS, "not a directory");
	UNIT_INT(file_expect_private(path, &err), ERROR_PERMISSION);
	UNIT_INT(file_expect_private("/nowhere/at/all", &err), 0);
	if (geteuid() == 0) {
		char *theirs CLEANUP_FREE = in("theirs");
		make("theirs", 0755);
		UNIT_INT(chown(theirs, STRANGER, (gid_t)-1), 0);
		refused("theirs", ERROR_PERMISSION, "belongs to another user (uid 65534)");
		UNIT_INT(file_expect_private(theirs, &err), ERROR_PERMISSION);
		/* A folder of one's own in another user's, or in a shared one, is fine. */
		char *held CLEANUP_FREE = NULL;
		int lock CLEANUP_FD = -1;
		UNIT_INT(hold("theirs/mine", &held, &lock, &err), 0);
	}
	char *held CLEANUP_FREE = NULL;
	int lock CLEANUP_FD = -1;
	UNIT_INT(hold("sticky/mine", &held, &lock, &err), 0);
	end();
}

UNIT_MAIN("held directories", {"held wherever it goes", test_held_wherever_it_goes},
	  {"links", test_links}, {"what others may write", test_what_others_may_write})
