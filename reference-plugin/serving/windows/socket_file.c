/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/socket_file.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* Connecting would block, so the name decides: it ends in its creation time and the id of the
 * process that made it. */
bool socket_file_nobody_listens(const char *path)
{
	static const int64_t epoch_ms = 11644473600000; /* FILETIME counts from 1601 */
	const char *process = strrchr(path, '-');
	const char *ms = process;
	FILETIME created = {0};
	FILETIME unused[3];
	DWORD code = 0;
	while (ms != NULL && ms > path && ms[-1] != '-')
		ms--;
	if (ms == NULL || ms == path)
		return false;

	/* Did the process with this id start after the socket was named, or is none running? A process that has ended
	 * can still be found while somebody holds a handle of it. */
	HANDLE handle = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE,
				    (DWORD)strtoul(process + 1, NULL, 10));
	if (handle == NULL)
		return GetLastError() == ERROR_INVALID_PARAMETER;
	bool ended = GetExitCodeProcess(handle, &code) && code != STILL_ACTIVE;
	bool known = GetProcessTimes(handle, &created, &unused[0], &unused[1], &unused[2]);
	(void)CloseHandle(handle);
	uint64_t time = (uint64_t)created.dwHighDateTime << 32 | created.dwLowDateTime;
	return ended || (known && (int64_t)(time / 10000) - epoch_ms > strtoll(ms, NULL, 10));
}
