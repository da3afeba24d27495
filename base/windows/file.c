/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/windows/private.h"
#include "base/windows/wide.h"

#include <fcntl.h>
#include <io.h>
#include <string.h>
#include <windows.h>

enum {
	WRITE_SIZE_MAX = 65536,
	FILE_RENAME_INFO_EX = 22, /* FileRenameInfoEx, which MinGW's headers hide */
};

/* Others may write, rename and remove it meanwhile. Directories, pipes and devices ("NUL") are refused. */
int file_open_to_read(const char *path, int *fd, struct error *err)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	BY_HANDLE_FILE_INFORMATION info = {0};
	if (wide == NULL)
		return error_memory(err);
	HANDLE file CLEANUP_HANDLE = CreateFileW(
		wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
		OPEN_EXISTING,
		FILE_FLAG_BACKUP_SEMANTICS | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, NULL);
	if (file == INVALID_HANDLE_VALUE)
		return error_windows(err, GetLastError(), "%s", path);
	if (GetFileType(file) != FILE_TYPE_DISK)
		return error_set(err, ERROR_IO, "%s: not a regular file", path);
	if (!GetFileInformationByHandle(file, &info))
		return error_windows(err, GetLastError(), "%s", path);
	if ((info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
		return error_set(err, ERROR_IO, "%s: is a directory", path);
	*fd = _open_osfhandle((intptr_t)file, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
	if (*fd < 0)
		return error_set(err, ERROR_LIMIT, "%s: too many open files", path);
	file = INVALID_HANDLE_VALUE;
	return 0;
}

/* A directory cannot be locked; a file in it is, which is deleted when its handle is closed. */
int file_lock_directory(const char *path, int *lock, struct error *err)
{
	char *name CLEANUP_FREE = path_join(path, FILE_LOCK_NAME);
	wchar_t *wide CLEANUP_FREE = name != NULL ? wide_path(name) : NULL;
	if (wide == NULL)
		return error_memory(err);
	HANDLE file CLEANUP_HANDLE =
		CreateFileW(wide, GENERIC_WRITE | DELETE, 0, NULL, OPEN_ALWAYS,
			    FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
	if (file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_SHARING_VIOLATION)
		return error_set(err, ERROR_BUSY, "%s: in use", path);
	if (file == INVALID_HANDLE_VALUE)
		return error_windows(err, GetLastError(), "%s", name);
	*lock = _open_osfhandle((intptr_t)file, _O_NOINHERIT);
	if (*lock < 0)
		return error_set(err, ERROR_LIMIT, "%s: too many open files", path);
	file = INVALID_HANDLE_VALUE;
	return 0;
}

int file_lock_descriptor(int fd, bool waits, struct error *err)
{
	(void)waits;
	return error_set(err, ERROR_UNSUPPORTED,
			 "descriptor %d: locks of descriptors are not for Windows", fd);
}

int file_hold_directory(const char *path, unsigned mode, int *lock, char **held, struct error *err)
{
	char *copy CLEANUP_FREE = memory_copy(path);
	int rc = copy != NULL ? file_make_directories(path, mode, err) : error_memory(err);
	if (rc == 0)
		rc = file_lock_directory(path, lock, err);
	if (rc == 0)
		*held = STEAL(copy);
	return rc;
}

int file_expect_private(const char *path, struct error *err)
{
	(void)path;
	(void)err;
	return 0;
}

static bool write_all(HANDLE file, const char *data, size_t size)
{
	DWORD count = 0;
	for (; size > 0; data += count, size -= count) {
		DWORD part = size < WRITE_SIZE_MAX ? (DWORD)size : WRITE_SIZE_MAX;
		if (!WriteFile(file, data, part, &count, NULL))
			return false;
	}
	return FlushFileBuffers(file);
}

/* Closes the file, and renames it. */
static int file_rename(HANDLE file, const char *from, const char *to, struct error *err)
{
	wchar_t *source CLEANUP_FREE = wide_path(from);
	wchar_t *target CLEANUP_FREE = wide_full_path(to);
	const size_t length = target != NULL ? wcslen(target) * sizeof(*target) : 0;
	const size_t size = sizeof(FILE_RENAME_INFO) + length; /* with the final 0 */
	FILE_RENAME_INFO *info CLEANUP_FREE = memory_allocate(1, size);
	if (source == NULL || target == NULL || info == NULL) {
		(void)CloseHandle(file);
		return error_memory(err);
	}

	/* Even over a file that is open for reading, as on POSIX systems: Windows 10 1607 and later, NTFS. */
	info->Flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS;
	info->FileNameLength = (DWORD)length;
	memcpy(info->FileName, target, length + sizeof(*target));
	const bool renamed = SetFileInformationByHandle(
		file, (FILE_INFO_BY_HANDLE_CLASS)FILE_RENAME_INFO_EX, info, (DWORD)size);
	(void)CloseHandle(file);
	if (renamed || MoveFileExW(source, target, MOVEFILE_REPLACE_EXISTING))
		return 0;
	if (file_is_directory(to))
		return error_set(err, ERROR_IO, "%s: is a directory", to);
	return error_windows(err, GetLastError(), "%s", to);
}

int file_write_atomic(const char *path, const void *data, size_t size, unsigned mode,
		      struct error *err)
{
	char *prefix CLEANUP_FREE = text_format("%s.", path);
	char *temporary CLEANUP_FREE = NULL;
	HANDLE file = INVALID_HANDLE_VALUE;
	int rc = prefix != NULL ? private_make_unique(prefix, mode, &temporary, &file, err)
				: error_memory(err);
	if (rc < 0)
		return rc;
	if (write_all(file, data, size)) {
		rc = file_rename(file, temporary, path, err);
	} else {
		rc = error_windows(err, GetLastError(), "%s", path);
		(void)CloseHandle(file);
	}
	if (rc < 0) {
		wchar_t *left CLEANUP_FREE = wide_path(temporary);
		if (left != NULL)
			(void)DeleteFileW(left);
	}
	return rc;
}
