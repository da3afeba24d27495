/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"

#include <dirent.h>
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

int file_read(const char *path, size_t max, char **data, size_t *size, struct error *err)
{
	struct text content CLEANUP_TEXT = {0};
	int fd CLEANUP_FD = -1;
	char chunk[16384];
	int rc = file_open_to_read(path, &fd, err);

	if (rc < 0)
		return rc;
	for (;;) {
		ssize_t count = read(fd, chunk, sizeof(chunk));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_system(err, errno, "%s", path);
		if (count == 0)
			break;
		if (content.size + (size_t)count > max)
			return error_set(err, ERROR_LIMIT, "%s: longer than %zu bytes", path, max);
		text_append(&content, chunk, (size_t)count);
	}
	if (size != NULL)
		*size = content.size;
	*data = text_take(&content);
	return *data != NULL ? 0 : error_memory(err);
}

int file_read_line(const char *path, char **line, struct error *err)
{
	size_t size = 0;
	int rc = file_read(path, 4096, line, &size, err);

	while (rc == 0 && *line != NULL && size > 0 && strchr(" \t\r\n", (*line)[size - 1]) != NULL)
		(*line)[--size] = '\0';
	return rc;
}

static int file_write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t count = write(fd, data, size);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -1;
		data += count;
		size -= (size_t)count;
	}
	return fsync(fd);
}

int file_write_atomic(const char *path, const void *data, size_t size, unsigned mode,
		      struct error *err)
{
	char *temporary CLEANUP_FREE = text_format("%s.XXXXXX", path);
	int fd CLEANUP_FD = -1;
	int reason = 0;

	if (temporary == NULL)
		return error_memory(err);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return error_system(err, errno, "%s", path);
	if (fchmod(fd, mode) < 0 || file_write_all(fd, data, size) < 0 ||
	    rename(temporary, path) < 0) {
		reason = errno;
		(void)unlink(temporary);
		return error_system(err, reason, "%s", path);
	}
	return 0;
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

int file_make_directories(const char *path, unsigned mode, struct error *err)
{
	char *prefix CLEANUP_FREE = path[0] != '\0' ? strdup(path) : NULL;

	if (path[0] == '\0')
		return error_set(err, ERROR_ARGUMENT, "a directory without a name");
	if (prefix == NULL)
		return error_memory(err);
	for (char *p = prefix + 1;; p++) {
		char ended = *p;

		if (ended != '/' && ended != '\0')
			continue;
		*p = '\0';
		if (mkdir(prefix, mode) < 0 && errno != EEXIST)
			return error_system(err, errno, "%s", prefix);
		*p = ended;
		if (ended == '\0')
			break;
	}
	if (!file_is_directory(path))
		return error_set(err, ERROR_EXISTS, "%s: exists and is not a directory", path);
	return 0;
}

int file_lock_directory(const char *path, int *lock, struct error *err)
{
	int fd CLEANUP_FD = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_system(err, errno, "%s", path);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return error_set(err, ERROR_BUSY, "%s: in use", path);
		if (errno != EINTR)
			break;
	}
	*lock = STEAL_FD(fd);
	return 0;
}

int file_make_temporary(const char *parent, const char *prefix, char **path, struct error *err)
{
	char *made CLEANUP_FREE = NULL;

	if (parent == NULL)
		parent = "/tmp";
	made = text_format("%s/%sXXXXXX", parent, prefix);
	if (made == NULL)
		return error_memory(err);
	if (mkdtemp(made) == NULL)
		return error_system(err, errno, "%s", parent);
	*path = STEAL(made);
	return 0;
}

int file_list(const char *path, struct text_list *names, struct error *err)
{
	DIR *dir CLEANUP_DIR = opendir(path);

	if (dir == NULL)
		return error_system(err, errno, "%s", path);
	for (;;) {
		struct dirent *entry = NULL;
		int rc = 0;

		errno = 0;
		entry = readdir(dir);
		if (entry == NULL && errno != 0)
			return error_system(err, errno, "%s", path);
		if (entry == NULL)
			break;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		rc = text_list_add(names, entry->d_name, err);
		if (rc < 0)
			return rc;
	}
	text_list_sort(names);
	return 0;
}
