/* SPDX-License-Identifier: MIT */
/* Tries what a program in the container can do beyond its grants, and undoes it at once. */
#include "workloads/visibility/visibility.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A render node: a container would make one to get a GPU. Without a driver an open that the device
 * cgroup allows ends in ENXIO. */
enum { NODE_MAJOR = 226, NODE_MINOR = 128 };

static const char own_name[] = ".gpucert-reach";

/* Only GPUs are opened: opening other devices can do harm, and the kernel answers access(2) by the same
 * rule. */
static int list_planted(struct members *reach, const char *folder, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = folder != NULL && file_is_directory(folder) ? file_list(folder, &names, err) : 0;

	struct members nodes = member_array(reach, "planted");
	text_each (name, &names) {
		char *path CLEANUP_FREE = path_join(folder, name);
		struct stat status = {0};
		if (lstat(path, &status) != 0 ||
		    (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)))
			continue;
		const bool block = S_ISBLK(status.st_mode);
		const bool opens = !block && major(status.st_rdev) == NODE_MAJOR;
		struct members node = member_object(&nodes, NULL);
		member_string(&node, "type", block ? "block" : "character");
		member_format(&node, "number", "%u:%u", major(status.st_rdev),
			      minor(status.st_rdev));
		if (opens) {
			member_try_open(&node, "read", path, O_RDONLY);
			member_try_open(&node, "write", path, O_WRONLY);
		} else {
			member_outcome(&node, "read", access(path, R_OK) == 0);
			member_outcome(&node, "write", access(path, W_OK) == 0);
		}
	}
	return rc;
}

/* Nothing is written; a folder gets a new file, without a name where the file system supports that.
 * False: errno. */
static bool can_write(const char *path, bool folder)
{
	int fd CLEANUP_FD = open(
		path, folder ? O_TMPFILE | O_WRONLY | O_CLOEXEC : O_WRONLY | O_CLOEXEC | O_NONBLOCK,
		0600);
	if (fd >= 0 || !folder || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd >= 0;
	char *own CLEANUP_FREE = path_join(path, own_name);
	fd = open(own, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	return fd >= 0 && unlink(own) == 0;
}

/* Tries to write to a mounted file or folder, if need be after making the mount writable. */
static void try_mount(struct members *mounts, const char *path)
{
	struct stat status = {0};

	if (stat(path, &status) != 0 || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
		return;
	const bool folder = S_ISDIR(status.st_mode);
	bool written = can_write(path, folder);
	struct members result = member_object(mounts, NULL);
	member_string(&result, "path", path);
	member_outcome(&result, "write", written);
	if (written) {
		member_null(&result, "remount");
	} else if (mount(NULL, path, NULL, MS_BIND | MS_REMOUNT, NULL) != 0) {
		member_outcome(&result, "remount", false);
	} else {
		written = can_write(path, folder);
		member_outcome(&result, "remount", written);
		(void)mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL);
	}
}

int reach_try(const char *planted, cJSON **out, struct error *err)
{
	static const char *const folders[] = {"/", "/dev", "/tmp", "/dev/shm"};
	/* File systems of the kernel, parts of which runtimes mount over. */
	static const char *const kernel_types[] = {"proc",   "sysfs",  "cgroup", "cgroup2",
						   "mqueue", "devpts", NULL};
	struct members reach CLEANUP_MEMBERS = members_new();
	struct stat own = {0};
	struct stat first = {0};

	/* Make a device node in each folder, open it and remove it. */
	struct members nodes = member_array(&reach, "nodes");
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		struct members node = member_object(&nodes, NULL);
		char *path CLEANUP_FREE = path_join(folders[i], own_name);
		member_string(&node, "folder", folders[i]);
		const bool made = mknod(path, S_IFCHR | 0600, makedev(NODE_MAJOR, NODE_MINOR)) == 0;
		member_outcome(&node, "make", made);
		if (made) {
			member_try_open(&node, "open", path, O_RDWR);
			(void)unlink(path);
		} else {
			member_null(&node, "open");
		}
	}

	int rc = list_planted(&reach, planted, err);
	if (rc != 0)
		return rc;

	struct members mounts = member_array(&reach, "mounts");
	FILE *file CLEANUP_FILE = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount = NULL;
	if (file == NULL)
		return error_system(err, errno, "/proc/self/mounts");
	while ((mount = getmntent(file)) != NULL) {
		const size_t type = text_position(kernel_types, mount->mnt_type);
		if (kernel_types[type] == NULL && !path_is_within(mount->mnt_dir, "/proc") &&
		    !path_is_within(mount->mnt_dir, "/sys"))
			try_mount(&mounts, mount->mnt_dir);
	}

	/* The root directory of the first process, or the error where that is unknown. */
	if (stat("/", &own) != 0 || stat("/proc/1/root/", &first) != 0)
		member_outcome(&reach, "firstRoot", false);
	else if (own.st_dev == first.st_dev && own.st_ino == first.st_ino)
		member_string(&reach, "firstRoot", "own");
	else
		member_string(&reach, "firstRoot", "other");
	*out = members_take(&reach);
	return 0;
}
