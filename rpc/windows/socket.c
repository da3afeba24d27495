/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/windows/wide.h"
#include "rpc/windows/winsock.h"

#ifndef IO_REPARSE_TAG_AF_UNIX
#define IO_REPARSE_TAG_AF_UNIX 0x80000023
#endif

static HANDLE open_attributes(const char *path, DWORD flags)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	if (wide == NULL)
		return INVALID_HANDLE_VALUE;
	return CreateFileW(wide, FILE_READ_ATTRIBUTES,
			   FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
			   OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
}

static bool identify(HANDLE file, struct socket_identity *out)
{
	BY_HANDLE_FILE_INFORMATION info = {0};
	if (!GetFileInformationByHandle(file, &info))
		return false;
	*out = (struct socket_identity){
		.device = info.dwVolumeSerialNumber,
		.inode = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow,
		.born_ns = ((uint64_t)info.ftCreationTime.dwHighDateTime << 32 |
			    info.ftCreationTime.dwLowDateTime) *
			   100,
	};
	return true;
}

enum socket_file_kind socket_file_look(const char *path, struct socket_identity *identity)
{
	FILE_ATTRIBUTE_TAG_INFO info = {0};
	struct socket_identity ignored;
	struct rendezvous rendezvous;
	HANDLE file = open_attributes(path, FILE_FLAG_OPEN_REPARSE_POINT);
	if (file == INVALID_HANDLE_VALUE)
		return GetLastError() == ERROR_FILE_NOT_FOUND ||
				       GetLastError() == ERROR_PATH_NOT_FOUND
			       ? SOCKET_FILE_NONE
			       : SOCKET_FILE_OTHER;
	bool is_socket =
		GetFileInformationByHandleEx(file, FileAttributeTagInfo, &info, sizeof(info)) &&
		(info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
		info.ReparseTag == IO_REPARSE_TAG_AF_UNIX;
	if (!identify(file, identity != NULL ? identity : &ignored))
		is_socket = false;
	(void)CloseHandle(file);
	if (!is_socket && !winsock_has_unix())
		is_socket = rendezvous_read(path, &rendezvous, NULL) == 0;
	return is_socket ? SOCKET_FILE_SOCKET : SOCKET_FILE_OTHER;
}

bool socket_file_remove(const char *path)
{
	wchar_t *wide CLEANUP_FREE = wide_path(path);
	return wide != NULL && DeleteFileW(wide);
}

/* A socket can be opened only as a reparse point, so links to it are not followed. */
bool socket_is_at(const char *path)
{
	return socket_file_look(path, NULL) == SOCKET_FILE_SOCKET;
}

bool socket_identify(const char *path, struct socket_identity *out)
{
	HANDLE file = open_attributes(path, 0);
	if (file == INVALID_HANDLE_VALUE)
		file = open_attributes(path, FILE_FLAG_OPEN_REPARSE_POINT);
	if (file == INVALID_HANDLE_VALUE)
		return false;
	bool known = identify(file, out);
	(void)CloseHandle(file);
	return known;
}

void socket_ignore_sigpipe(void)
{
	/* Windows has no such signal. */
}
