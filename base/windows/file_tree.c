/* SPDX-License-Identifier: MIT */
/* Directories, and paths on disk. */
#include "base/file_internal.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/windows/private.h"
#include "base/windows/wide.h"

#include <string.h>
#include <uv.h>
#include <windows.h>

char *file_native_path(const char *path)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	return wide != NULL ? wide_to_utf8(wide) : NULL;
}

static bool is_missing(DWORD reason)
{
	return reason == ERROR_FILE_NOT_FOUND || reason == ERROR_PATH_NOT_FOUND;
}

/* Of the file itself, or with `follow` of what a link leads to. INVALID_FILE_ATTRIBUTES: see
 * GetLastError(). */
static DWORD file_attributes(const char *path, bool follow)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	DWORD attributes = wide != NULL ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
	BY_HANDLE_FILE_INFORMATION info = {0};
	if (attributes == INVALID_FILE_ATTRIBUTES || !follow ||
	    (attributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0)
		return attributes;
	HANDLE file CLEANUP_HANDLE =
		CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
			    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
	/* Sockets are reparse points that cannot be opened, but exist. */
	if (file == INVALID_HANDLE_VALUE)
		return is_missing(GetLastError()) ? INVALID_FILE_ATTRIBUTES : attributes;
	return GetFileInformationByHandle(file, &info) ? info.dwFileAttributes : attributes;
}

bool file_exists(const char *path)
{
	return file_attributes(path, true) != INVALID_FILE_ATTRIBUTES;
}

bool file_is_private(const char *path)
{
	struct file_status status = {0};
	return file_status(path, false, &status, NULL) == 0 && status.kind == FILE_REGULAR;
}

bool file_is_directory(const char *path)
{
	DWORD attributes = file_attributes(path, true);
	return attributes != INVALID_FILE_ATTRIBUTES &&
	       (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

int file_make_directory(const char *path, unsigned mode, struct error *err)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	SECURITY_ATTRIBUTES attributes CLEANUP_PRIVATE = {0};
	int rc = wide != NULL ? private_attributes(mode, &attributes, err) : error_memory(err);
	if (rc < 0)
		return rc;
	return CreateDirectoryW(wide, &attributes) ? 0
						   : error_windows(err, GetLastError(), "%s", path);
}

int file_make_temporary(const char *parent, const char *prefix, char **path, struct error *err)
{
	char temporary[MAX_PATH * 3]; /* UTF-8 */
	size_t size = sizeof(temporary);
	if (parent == NULL) {
		int rc = uv_os_tmpdir(temporary, &size);
		if (rc < 0)
			return error_uv(err, rc, "no folder for temporary files");
		parent = temporary;
	}
	char *below CLEANUP_FREE = path_join(parent, prefix);
	return below != NULL ? private_make_unique(below, 0700, path, NULL, err)
			     : error_memory(err);
}

int file_remove_tree(const char *path, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	DWORD attributes = file_attributes(path, false);
	int rc = 0;
	if (attributes == INVALID_FILE_ATTRIBUTES) {
		DWORD reason = GetLastError();
		return is_missing(reason) ? 0 : error_windows(err, reason, "%s", path);
	}
	if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 &&
	    (attributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0)
		rc = file_list(path, &names, err);
	for (size_t i = 0; i < names.count; i++) {
		char *below CLEANUP_FREE = path_join(path, names.items[i]);
		struct error *first = rc == 0 ? err : NULL;
		int one = below != NULL ? file_remove_tree(below, first) : error_memory(first);
		if (rc == 0)
			rc = one;
	}
	if (rc < 0)
		return rc;

	/* A file, an empty directory, or a reparse point (link, junction, socket) itself. */
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	if (wide == NULL)
		return error_memory(err);
	if ((attributes & FILE_ATTRIBUTE_READONLY) != 0)
		(void)SetFileAttributesW(wide, attributes & ~(DWORD)FILE_ATTRIBUTE_READONLY);
	if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 ? RemoveDirectoryW(wide)
							 : DeleteFileW(wide))
		return 0;
	DWORD reason = GetLastError();
	return is_missing(reason) ? 0 : error_windows(err, reason, "%s", path);
}

static int real_path(const char *path, char **real, struct error *err)
{
	char *native CLEANUP_FREE = file_native_path(path);
	uv_fs_t request = {0};
	if (native == NULL)
		return error_memory(err);
	int rc = uv_fs_realpath(NULL, &request, native, NULL);
	*real = rc == 0 ? memory_copy(request.ptr) : NULL;
	uv_fs_req_cleanup(&request);
	if (rc == UV_ELOOP)
		return error_set(err, ERROR_LIMIT, "%s: too many links", path);
	if (rc < 0)
		return error_uv(err, rc, "%s", path);
	return *real != NULL ? 0 : error_memory(err);
}

int file_resolve(const char *root, const char *path, char **resolved, struct error *err)
{
	char *real CLEANUP_FREE = NULL;
	char *real_root CLEANUP_FREE = NULL;
	if (!path_is_absolute(path))
		return error_set(err, ERROR_FORMAT, "%s: not an absolute path", path);
	if (root == NULL)
		return real_path(path, resolved, err);
	char *inside CLEANUP_FREE = path_normalize(path); /* ".." ends at the root */
	char *below CLEANUP_FREE = inside != NULL ? path_join(root, inside) : NULL;
	if (below == NULL)
		return error_memory(err);
	int rc = real_path(root, &real_root, err);
	if (rc == 0)
		rc = real_path(below, &real, err);
	if (rc < 0)
		return rc;
	if (!path_is_within(real, real_root))
		return error_set(err, ERROR_NOT_FOUND, "%s: leads out of %s", path, root);
	*resolved = memory_copy(real[strlen(real_root)] != '\0' ? real + strlen(real_root) : "\\");
	return *resolved != NULL ? 0 : error_memory(err);
}
