/* SPDX-License-Identifier: MIT */
/* The portable part; the rest is in posix/ and windows/. */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/file_internal.h"
#include "base/memory.h"
#include "base/path.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

int file_read_some(int fd, const char *path, void *out, size_t size, size_t *count,
		   struct error *err)
{
	ssize_t got = 0;
	do
		got = read(fd, out, (unsigned)size);
	while (got < 0 && errno == EINTR);
	*count = got > 0 ? (size_t)got : 0;
	return got < 0 ? error_system(err, errno, "%s", path) : 0;
}

bool file_write_all(int fd, const void *data, size_t size)
{
	enum { PART_MAX = 1 << 20 }; /* on Windows write() accepts at most INT_MAX */
	const char *left = data;
	while (size > 0) {
		ssize_t count = write(fd, left, size < PART_MAX ? (unsigned)size : PART_MAX);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return false;
		left += count;
		size -= (size_t)count;
	}
	return true;
}

int file_read(const char *path, size_t max, char **data, size_t *size, struct error *err)
{
	struct text content CLEANUP_TEXT = {0};
	int fd CLEANUP_FD = -1;
	char chunk[16384];
	size_t count = 0;
	int rc = file_open_to_read(path, &fd, err);
	if (rc < 0)
		return rc;
	do {
		rc = file_read_some(fd, path, chunk, sizeof(chunk), &count, err);
		if (rc < 0)
			return rc;
		if (content.size + count > max)
			return error_set(err, ERROR_LIMIT, "%s: longer than %zu bytes", path, max);
		text_append(&content, chunk, count);
	} while (count > 0);
	if (size != NULL)
		*size = content.size;
	*data = text_take(&content);
	return *data != NULL ? 0 : error_memory(err);
}

int file_read_line(const char *path, char **line, struct error *err)
{
	size_t size = 0;
	int rc = file_read(path, 4096, line, &size, err);
	while (rc == 0 && size > 0 && strchr(" \t\r\n", (*line)[size - 1]) != NULL)
		(*line)[--size] = '\0';
	return rc;
}

int file_make_directories(const char *path, unsigned mode, struct error *err)
{
	char *parent CLEANUP_FREE = path_directory(path);
	int rc = 0;
	if (path[0] == '\0')
		return error_set(err, ERROR_ARGUMENT, "a directory without a name");
	if (parent == NULL)
		return error_memory(err);
	if (file_is_directory(path))
		return 0;
	if (strcmp(parent, path) != 0)
		rc = file_make_directories(parent, mode, err);
	if (rc == 0 && file_exists(path) && !file_is_directory(path))
		return error_set(err, ERROR_EXISTS, "%s: exists and is not a directory", path);
	if (rc == 0)
		rc = file_make_directory(path, mode, err);
	return rc < 0 && file_is_directory(path) ? 0 : rc; /* somebody else made it */
}

int file_list(const char *path, struct text_list *names, struct error *err)
{
	char *native CLEANUP_FREE = file_native_path(path);
	uv_fs_t request = {0};
	uv_dirent_t entry = {0};
	if (native == NULL)
		return error_memory(err);
	int rc = uv_fs_scandir(NULL, &request, native, 0, NULL);
	rc = rc < 0 ? error_uv(err, rc, "%s", path) : 0;
	while (rc == 0 && uv_fs_scandir_next(&request, &entry) != UV_EOF)
		text_list_add(names, entry.name);
	uv_fs_req_cleanup(&request);
	text_list_sort(names);
	return rc == 0 ? text_list_check(names, err) : rc;
}

void file_name_held(const char *held, const char *path, struct error *err)
{
	char *at = held != NULL && err != NULL ? strstr(err->text, held) : NULL;
	if (at == NULL)
		return;
	char *rest CLEANUP_FREE = memory_copy(at + strlen(held));
	int size = (int)(at - err->text);
	char *text CLEANUP_FREE =
		rest != NULL ? text_format("%.*s%s%s", size, err->text, path, rest) : NULL;
	if (text != NULL)
		(void)error_set(err, err->code, "%s", text);
}
