/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/socket_file.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/utf16.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* A socket is a reparse point that cannot be followed: it is opened as such. */
static HANDLE open_itself(const char *path)
{
	uint16_t *wide CLEANUP_FREE = utf16_from_utf8(path, NULL);
	if (wide == NULL)
		return INVALID_HANDLE_VALUE;
	return CreateFileW((const wchar_t *)wide, FILE_READ_ATTRIBUTES,
			   FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
			   OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS,
			   NULL);
}

static uint64_t joined(DWORD high, DWORD low)
{
	return (uint64_t)high << 32 | low;
}

struct socket_file socket_file_at(const char *path)
{
	BY_HANDLE_FILE_INFORMATION information = {0};
	HANDLE file = open_itself(path);
	bool read = file != INVALID_HANDLE_VALUE && GetFileInformationByHandle(file, &information);
	if (file != INVALID_HANDLE_VALUE)
		(void)CloseHandle(file);
	if (!read)
		return (struct socket_file){0};
	return (struct socket_file){
		.exists = true,
		.device = information.dwVolumeSerialNumber,
		.inode = joined(information.nFileIndexHigh, information.nFileIndexLow),
		.created_s = (int64_t)joined(information.ftCreationTime.dwHighDateTime,
					     information.ftCreationTime.dwLowDateTime),
	};
}

/* FILETIME counts from 1601. */
static int64_t unix_ms(const FILETIME *time)
{
	static const int64_t epoch_ms = 11644473600000;
	return (int64_t)(joined(time->dwHighDateTime, time->dwLowDateTime) / 10000) - epoch_ms;
}

/* Did the process with this number begin after `named_ms`, or is there none that runs? One that has
 * ended can be found as long as somebody holds a handle of it. */
static bool is_gone(DWORD process, int64_t named_ms)
{
	FILETIME created = {0};
	FILETIME unused[3];
	DWORD code = 0;
	HANDLE handle = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process);
	if (handle == NULL)
		return GetLastError() == ERROR_INVALID_PARAMETER;
	bool ended = GetExitCodeProcess(handle, &code) && code != STILL_ACTIVE;
	bool known = GetProcessTimes(handle, &created, &unused[0], &unused[1], &unused[2]);
	(void)CloseHandle(handle);
	return ended || (known && unix_ms(&created) > named_ms);
}

/* A connection would have to wait, so the name decides: it ends in the time it was made and the
 * number of the process that made it. */
bool socket_file_nobody_listens(const char *path)
{
	const char *process = strrchr(path, '-');
	const char *ms = process;
	while (ms != NULL && ms > path && ms[-1] != '-')
		ms--;
	if (ms == NULL || ms == path)
		return false;
	return is_gone((DWORD)strtoul(process + 1, NULL, 10), strtoll(ms, NULL, 10));
}
