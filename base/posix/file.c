/* SPDX-License-Identifier: MIT */
#include "base/file_internal.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int file_open_to_read(const char *path, int *fd, struct error *err)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return *fd >= 0 ? 0 : error_system(err, errno, "%s", path);
}

/* A pipe, a device, or a name for an open descriptor, such as /dev/stdout: must not be replaced by a file. */
static bool is_stream(const char *path)
{
	static const char open_files[] = "/proc/";
	char target[sizeof(open_files) - 1] = "";
	struct stat status = {0};
	return (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) ||
	       (readlink(path, target, sizeof(target)) == (ssize_t)sizeof(target) &&
		memcmp(target, open_files, sizeof(target)) == 0);
}

int file_write_atomic(const char *path, const void *data, size_t size, unsigned mode,
		      struct error *err)
{
	char *temporary CLEANUP_FREE = text_format("%s.XXXXXX", path);
	if (temporary == NULL)
		return error_memory(err);
	if (is_stream(path))
		return error_set(err, ERROR_FORMAT, "%s: a pipe or a device; name a file", path);
	int fd CLEANUP_FD = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return error_system(err, errno, "%s", path);
	if (fchmod(fd, mode) < 0 || !file_write_all(fd, data, size) || fsync(fd) < 0 ||
	    rename(temporary, path) < 0) {
		int reason = errno;
		(void)unlink(temporary);
		return error_system(err, reason, "%s", path);
	}
	return 0;
}

bool file_is_private(const char *path)
{
	struct stat status = {0};
	return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	       (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool file_is_directory(const char *path)
{
	struct stat status = {0};
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int file_make_directory(const char *path, unsigned mode, struct error *err)
{
	return mkdir(path, mode) == 0 ? 0 : error_system(err, errno, "%s", path);
}

char *file_native_path(const char *path)
{
	return memory_copy(path);
}

int file_lock_directory(const char *path, int *lock, struct error *err)
{
	int fd CLEANUP_FD = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_system(err, errno, "%s", path);
	if (file_lock_descriptor(fd, false, NULL) == ERROR_BUSY)
		return error_set(err, ERROR_BUSY, "%s: in use", path);
	*lock = STEAL_FD(fd);
	return 0;
}

int file_lock_descriptor(int fd, bool waits, struct error *err)
{
	while (flock(fd, waits ? LOCK_EX : LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return error_set(err, ERROR_BUSY, "descriptor %d: in use", fd);
		if (errno != EINTR)
			return error_system(err, errno, "descriptor %d", fd);
	}
	return 0;
}

int file_make_temporary(const char *parent, const char *prefix, char **path, struct error *err)
{
	if (parent == NULL)
		parent = "/tmp";
	char *made CLEANUP_FREE = text_format("%s/%sXXXXXX", parent, prefix);
	if (made == NULL)
		return error_memory(err);
	if (mkdtemp(made) == NULL)
		return error_system(err, errno, "%s", parent);
	*path = STEAL(made);
	return 0;
}
