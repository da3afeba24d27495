/* SPDX-License-Identifier: MIT */
/* Files through libuv, whose functions take UTF-8 and use the wide API. */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/windows/private.h"
#include "base/windows/wide.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <string.h>
#include <uv.h>
#include <windows.h>

enum { FILE_CHUNK_SIZE = 65536 };

static void file_close(const uv_file *file)
{
	uv_fs_t request;

	if (*file < 0)
		return;
	(void)uv_fs_close(NULL, &request, *file, NULL);
	uv_fs_req_cleanup(&request);
}

static int file_open(const char *path, int flags, uv_file *out, struct error *err)
{
	uv_fs_t request;
	int rc = uv_fs_open(NULL, &request, path, flags, 0600, NULL);

	uv_fs_req_cleanup(&request);
	if (rc < 0)
		return error_uv(err, rc, "%s", path);
	*out = rc;
	return 0;
}

static int file_read_some(uv_file file, char *chunk, size_t size)
{
	uv_buf_t buffer = uv_buf_init(chunk, (unsigned)size);
	uv_fs_t request;
	int count = uv_fs_read(NULL, &request, file, &buffer, 1, -1, NULL);

	uv_fs_req_cleanup(&request);
	return count;
}

int file_read(const char *path, size_t max, char **data, size_t *size, struct error *err)
{
	struct text content CLEANUP_TEXT = {0};
	uv_file file CLEANUP(file_close) = -1;
	char chunk[FILE_CHUNK_SIZE];
	int rc = file_open(path, UV_FS_O_RDONLY, &file, err);

	if (rc < 0)
		return rc;
	for (;;) {
		int count = file_read_some(file, chunk, sizeof(chunk));

		if (count < 0)
			return error_uv(err, count, "%s", path);
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

static int file_write_all(uv_file file, const char *data, size_t size)
{
	uv_fs_t request;
	int rc = 0;

	for (size_t written = 0; rc >= 0 && written < size; written += (size_t)rc) {
		size_t part = size - written < FILE_CHUNK_SIZE ? size - written : FILE_CHUNK_SIZE;
		char *from =
			(char *)(uintptr_t)data + written; /* libuv takes char * for both ways */
		uv_buf_t buffer = uv_buf_init(from, (unsigned)part);

		rc = uv_fs_write(NULL, &request, file, &buffer, 1, -1, NULL);
		uv_fs_req_cleanup(&request);
	}
	if (rc >= 0) {
		rc = uv_fs_fsync(NULL, &request, file, NULL);
		uv_fs_req_cleanup(&request);
	}
	return rc;
}

static int file_rename(const char *from, const char *to)
{
	uv_fs_t request;
	int rc = uv_fs_rename(NULL, &request, from, to, NULL);

	uv_fs_req_cleanup(&request);
	return rc;
}

int file_write_atomic(const char *path, const void *data, size_t size, unsigned mode,
		      struct error *err)
{
	char *pattern CLEANUP_FREE = text_format("%s.XXXXXX", path);
	uv_fs_t request;
	uv_file file = -1;
	int rc = 0;

	if (pattern == NULL)
		return error_memory(err);
	file = uv_fs_mkstemp(NULL, &request, pattern, NULL);
	if (file < 0) {
		uv_fs_req_cleanup(&request);
		return error_uv(err, (int)file, "%s", path);
	}
	char *temporary CLEANUP_FREE = strdup(request.path);

	uv_fs_req_cleanup(&request);
	rc = file_write_all(file, data, size);
	file_close(&file);
	if (temporary == NULL)
		return error_memory(err);
	rc = rc < 0 ? error_uv(err, rc, "%s", path) : private_apply(temporary, mode, err);
	if (rc == 0) {
		int renamed = file_rename(temporary, path);

		rc = renamed < 0 ? error_uv(err, renamed, "%s", path) : 0;
	}
	if (rc < 0) {
		(void)uv_fs_unlink(NULL, &request, temporary, NULL);
		uv_fs_req_cleanup(&request);
	}
	return rc;
}

int file_open_to_read(const char *path, int *fd, struct error *err)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);

	if (wide == NULL)
		return error_memory(err);
	*fd = _wopen(wide, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
	return *fd >= 0 ? 0 : error_system(err, errno, "%s", path);
}

static DWORD file_attributes(const char *path)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);

	return wide != NULL ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
}

bool file_exists(const char *path)
{
	return file_attributes(path) != INVALID_FILE_ATTRIBUTES;
}

bool file_is_directory(const char *path)
{
	DWORD attributes = file_attributes(path);

	return attributes != INVALID_FILE_ATTRIBUTES &&
	       (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

static int file_make_directory(const char *path, unsigned mode, struct error *err)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	DWORD reason = 0;

	if (wide == NULL)
		return error_memory(err);
	if (CreateDirectoryW(wide, NULL))
		return private_apply(path, mode, err);
	reason = GetLastError();
	/* A drive or share that exists is refused with other codes. */
	if (reason == ERROR_ALREADY_EXISTS || file_is_directory(path))
		return 0;
	return error_windows(err, reason, "%s", path);
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
	if (file_exists(path))
		return error_set(err, ERROR_EXISTS, "%s: exists and is not a directory", path);
	if (strcmp(parent, path) != 0 && strcmp(parent, ".") != 0)
		rc = file_make_directories(parent, mode, err);
	return rc == 0 ? file_make_directory(path, mode, err) : rc;
}

/* Removes a file, an empty directory, or a reparse point (link, junction, socket) itself. */
static int file_remove_one(const char *path, DWORD attributes, struct error *err)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	DWORD reason = 0;

	if (wide == NULL)
		return error_memory(err);
	if ((attributes & FILE_ATTRIBUTE_READONLY) != 0)
		(void)SetFileAttributesW(wide, FILE_ATTRIBUTE_NORMAL);
	if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? RemoveDirectoryW(wide)
							 : DeleteFileW(wide))
		return 0;
	reason = GetLastError();
	return reason == ERROR_FILE_NOT_FOUND || reason == ERROR_PATH_NOT_FOUND
		       ? 0
		       : error_windows(err, reason, "%s", path);
}

int file_remove_tree(const char *path, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	DWORD attributes = file_attributes(path);
	int rc = 0;

	if (attributes == INVALID_FILE_ATTRIBUTES)
		return 0;
	if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 &&
	    (attributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0)
		rc = file_list(path, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *below CLEANUP_FREE = path_join(path, names.items[i]);

		rc = below != NULL ? file_remove_tree(below, err) : error_memory(err);
	}
	return rc == 0 ? file_remove_one(path, attributes, err) : rc;
}

int file_make_temporary(const char *parent, const char *prefix, char **path, struct error *err)
{
	char *name CLEANUP_FREE = text_format("%sXXXXXX", prefix);
	char *pattern CLEANUP_FREE = name != NULL ? path_join(parent, name) : NULL;
	char *made CLEANUP_FREE = NULL;
	uv_fs_t request;
	int rc = 0;

	if (pattern == NULL)
		return error_memory(err);
	rc = uv_fs_mkdtemp(NULL, &request, pattern, NULL);
	made = rc >= 0 ? strdup(request.path) : NULL;
	uv_fs_req_cleanup(&request);
	if (rc < 0)
		return error_uv(err, rc, "%s", parent);
	if (made == NULL)
		return error_memory(err);
	rc = private_apply(made, 0700, err);
	if (rc == 0)
		*path = STEAL(made);
	return rc;
}

int file_list(const char *path, struct text_list *names, struct error *err)
{
	uv_fs_t request;
	uv_dirent_t entry = {0};
	int rc = uv_fs_scandir(NULL, &request, path, 0, NULL);
	int added = 0;

	if (rc < 0) {
		uv_fs_req_cleanup(&request);
		return error_uv(err, rc, "%s", path);
	}
	while (added == 0 && uv_fs_scandir_next(&request, &entry) >= 0)
		added = text_list_add(names, entry.name, err);
	uv_fs_req_cleanup(&request);
	text_list_sort(names);
	return added;
}

int file_resolve(const char *root, const char *path, char **resolved, struct error *err)
{
	char *below CLEANUP_FREE = root != NULL ? path_join(root, path) : strdup(path);
	uv_fs_t request;
	int rc = 0;

	if (!path_is_absolute(path))
		return error_set(err, ERROR_FORMAT, "%s: not an absolute path", path);
	if (below == NULL)
		return error_memory(err);
	rc = uv_fs_realpath(NULL, &request, below, NULL);
	char *real CLEANUP_FREE = rc >= 0 ? strdup(request.ptr) : NULL;

	uv_fs_req_cleanup(&request);
	if (rc < 0)
		return error_uv(err, rc, "%s", below);
	if (real == NULL)
		return error_memory(err);
	if (root != NULL && !path_is_within(real, root))
		return error_set(err, ERROR_NOT_FOUND, "%s: leads out of %s", path, root);
	*resolved = root != NULL ? strdup(real + strlen(root)) : STEAL(real);
	return *resolved != NULL ? 0 : error_memory(err);
}
