/* SPDX-License-Identifier: MIT */
/* What a program in the container can do to what it was given: tried, and undone at once. */
#include "workloads/visibility/visibility.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "workloads/visibility/posix/outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A render node: what a container would make that wants a GPU. Without a driver an open that the
 * device cgroup lets pass ends in ENXIO. */
enum { NODE_MAJOR = 226, NODE_MINOR = 128 };

static const char own_name[] = ".gpucert-reach";

static void try_node(struct members *members, const char *path)
{
	bool made = mknod(path, S_IFCHR | 0600, makedev(NODE_MAJOR, NODE_MINOR)) == 0;
	member_outcome(members, "make", made);
	int fd CLEANUP_FD = made ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
	if (made) {
		member_outcome(members, "open", fd >= 0);
		(void)unlink(path);
	} else {
		member_null(members, "open");
	}
}

static void try_open(struct members *members, const char *key, const char *path, int flags,
		     bool opens)
{
	int fd CLEANUP_FD = opens ? open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	if (opens)
		member_outcome(members, key, fd >= 0);
	else
		member_outcome(members, key, access(path, flags == O_RDONLY ? R_OK : W_OK) == 0);
}

/* GPUs alone are opened: with others that can do harm, and the kernel answers access(2) by the same rule. */
static void try_planted(struct members *nodes, const char *path, const struct stat *status)
{
	bool block = S_ISBLK(status->st_mode);
	bool opens = !block && (major(status->st_rdev) == NODE_MAJOR);
	struct members node CLEANUP_MEMBERS = members_new();
	member_string(&node, "type", block ? "block" : "character");
	member_format(&node, "number", "%u:%u", major(status->st_rdev), minor(status->st_rdev));
	try_open(&node, "read", path, O_RDONLY, opens);
	try_open(&node, "write", path, O_WRONLY, opens);
	member_item(nodes, NULL, members_take(&node));
}

static int list_planted(struct members *reach, const char *folder, struct error *err)
{
	struct members nodes CLEANUP_MEMBERS = members_new_array();
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = folder != NULL && file_is_directory(folder) ? file_list(folder, &names, err) : 0;
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(folder, names.items[i]);
		struct stat status = {0};
		if (path == NULL)
			return error_memory(err);
		if (lstat(path, &status) == 0 &&
		    (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)))
			try_planted(&nodes, path, &status);
	}
	member_item(reach, "planted", members_take(&nodes));
	return rc;
}

static cJSON *made_nodes(void)
{
	static const char *const folders[] = {"/", "/dev", "/tmp", "/dev/shm"};
	struct members nodes CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		struct members node CLEANUP_MEMBERS = members_new();
		char *path CLEANUP_FREE = path_join(folders[i], own_name);
		if (path == NULL)
			return NULL;
		member_string(&node, "folder", folders[i]);
		try_node(&node, path);
		member_item(&nodes, NULL, members_take(&node));
	}
	return members_take(&nodes);
}

/* A new file without a name where the file system has such. False: errno. */
static bool can_create_in(const char *folder)
{
	int fd CLEANUP_FD = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	char *path CLEANUP_FREE = path_join(folder, own_name);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) || path == NULL)
		return fd >= 0;
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	return fd >= 0 && unlink(path) == 0;
}

/* Nothing is written. */
static bool can_write(const char *path, bool folder)
{
	if (folder)
		return can_create_in(path);
	int fd CLEANUP_FD = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0;
}

/* Makes the mount writable, if it can, and looks whether that helped. */
static bool can_remount(const char *path, bool folder)
{
	if (mount(NULL, path, NULL, MS_BIND | MS_REMOUNT, NULL) != 0)
		return false;
	bool written = can_write(path, folder);
	int reason = errno;
	(void)mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL);
	errno = reason;
	return written;
}

static void try_mount(struct members *mounts, const char *path)
{
	struct members mount CLEANUP_MEMBERS = members_new();
	struct stat status = {0};
	if (stat(path, &status) != 0 || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
		return;
	bool folder = S_ISDIR(status.st_mode);
	bool written = can_write(path, folder);
	member_string(&mount, "path", path);
	member_outcome(&mount, "write", written);
	if (written)
		member_null(&mount, "remount");
	else
		member_outcome(&mount, "remount", can_remount(path, folder));
	member_item(mounts, NULL, members_take(&mount));
}

/* File systems of the kernel, and what runtimes mount over parts of them. */
static bool is_of_the_kernel(const struct mntent *mount)
{
	static const char *const types[] = {"proc",    "sysfs",	 "cgroup",
					    "cgroup2", "mqueue", "devpts"};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(mount->mnt_type, types[i]) == 0)
			return true;
	}
	return path_is_within(mount->mnt_dir, "/proc") || path_is_within(mount->mnt_dir, "/sys");
}

static int list_mounts(struct members *reach, struct error *err)
{
	struct members mounts CLEANUP_MEMBERS = members_new_array();
	FILE *file CLEANUP_FILE = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount = NULL;
	if (file == NULL)
		return error_system(err, errno, "/proc/self/mounts");
	while ((mount = getmntent(file)) != NULL)
		if (!is_of_the_kernel(mount))
			try_mount(&mounts, mount->mnt_dir);
	member_item(reach, "mounts", members_take(&mounts));
	return 0;
}

/* Whose root directory the first process has; the error where it may not be asked. */
static void add_init(struct members *reach)
{
	struct stat own = {0};
	struct stat first = {0};
	if (stat("/", &own) != 0 || stat("/proc/1/root/", &first) != 0)
		member_outcome(reach, "firstRoot", false);
	else
		member_string(reach, "firstRoot",
			      own.st_dev == first.st_dev && own.st_ino == first.st_ino ? "own"
										       : "other");
}

int reach_try(const char *planted, cJSON **out, struct error *err)
{
	struct members reach CLEANUP_MEMBERS = members_new();
	member_item(&reach, "nodes", made_nodes());
	int rc = list_planted(&reach, planted, err);
	if (rc == 0)
		rc = list_mounts(&reach, err);
	if (rc != 0)
		return rc;
	add_init(&reach);
	*out = members_take(&reach);
	return *out != NULL ? 0 : error_memory(err);
}
