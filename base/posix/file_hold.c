/* SPDX-License-Identifier: MIT */
/*
 * Holding a directory that other users cannot redirect. Every step goes from an open directory to a name in it, so a
 * name that is replaced by a symbolic link is noticed at any time.
 */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOLD_LINKS_MAX = 40 }; /* the kernel's limit */

struct hold {
	const char *path; /* for errors */
	int fd;		  /* the directory reached so far */
	char *pending;	  /* the rest of the path */
	unsigned links;
	unsigned mode;
};

/* root can redirect everything anyway. */
static bool is_trusted(const struct stat *status)
{
	return status->st_uid == geteuid() || status->st_uid == 0;
}

static int expect_private(const char *path, const struct stat *status, struct error *err)
{
	const unsigned owner = status->st_uid;
	if (!S_ISDIR(status->st_mode))
		return error_set(err, ERROR_EXISTS, "%s: not a directory", path);
	if (!is_trusted(status))
		return error_set(err, ERROR_PERMISSION,
				 "%s: belongs to another user (uid %u), who could redirect what is "
				 "written there; use another folder",
				 path, owner);
	if ((status->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return error_set(err, ERROR_PERMISSION,
				 "%s: other users may write there, and could redirect what is "
				 "written; use another folder, or run chmod go-w first",
				 path);
	return 0;
}

int file_expect_private(const char *path, struct error *err)
{
	struct stat status = {0};
	if (lstat(path, &status) < 0)
		return errno == ENOENT ? 0 : error_system(err, errno, "%s", path);
	return expect_private(path, &status, err);
}

/* Takes ownership of `fd`. */
static int enter(struct hold *hold, int fd, struct error *err)
{
	cleanup_fd_(&hold->fd);
	hold->fd = fd;
	return fd >= 0 ? 0 : error_system(err, errno, "%s", hold->path);
}

static int step(struct hold *hold, const char *name, struct error *err)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	struct stat status = {0};
	int fd CLEANUP_FD = openat(hold->fd, name, flags);
	if (fd < 0 && errno == ENOENT &&
	    (mkdirat(hold->fd, name, hold->mode) == 0 || errno == EEXIST))
		fd = openat(hold->fd, name, flags);
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_system(err, errno, "%s", hold->path);
	if (S_ISLNK(status.st_mode)) {
		/* The link's target is put in front of the rest. */
		char target[PATH_MAX] = "";
		const unsigned owner = status.st_uid;
		if (!is_trusted(&status))
			return error_set(
				err, ERROR_PERMISSION,
				"%s: leads through a symbolic link of another user (uid %u); use "
				"another folder",
				hold->path, owner);
		if (++hold->links > HOLD_LINKS_MAX)
			return error_set(err, ERROR_LIMIT, "%s: too many symbolic links",
					 hold->path);
		if (readlinkat(fd, "", target, sizeof(target) - 1) < 0)
			return error_system(err, errno, "%s", hold->path);
		char *pending = text_format("%s/%s", target, hold->pending);
		free(hold->pending);
		hold->pending = pending;
		return target[0] == '/' ? enter(hold, open("/", O_PATH | O_CLOEXEC), err) : 0;
	}
	if (!S_ISDIR(status.st_mode))
		return expect_private(hold->path, &status, err);
	return enter(hold, STEAL_FD(fd), err);
}

/* The path of the open directory, for every process of this user. */
static char *path_of(int fd)
{
	return text_format("/proc/%d/fd/%d", (int)getpid(), fd);
}

int file_hold_directory(const char *path, unsigned mode, int *lock, char **held, struct error *err)
{
	struct hold hold = {.path = path, .fd = -1, .pending = memory_copy(path), .mode = mode};
	struct stat status = {0};
	int rc = enter(&hold, open(path[0] == '/' ? "/" : ".", O_PATH | O_CLOEXEC), err);
	while (rc == 0 && hold.pending[strspn(hold.pending, "/")] != '\0') {
		const char *start = hold.pending + strspn(hold.pending, "/");
		size_t size = strcspn(start, "/");
		char *name CLEANUP_FREE = memory_copy_start(start, size);
		memmove(hold.pending, start + size, strlen(start + size) + 1);
		rc = step(&hold, name, err);
	}

	if (rc == 0 && fstat(hold.fd, &status) < 0)
		rc = error_system(err, errno, "%s", path);
	if (rc == 0)
		rc = expect_private(path, &status, err);
	if (rc == 0) {
		char *here CLEANUP_FREE = path_of(hold.fd);
		rc = file_lock_directory(here, lock, err);
		file_name_held(here, path, err);
	}
	if (rc == 0)
		*held = path_of(*lock);
	cleanup_fd_(&hold.fd);
	free(hold.pending);
	return rc;
}
