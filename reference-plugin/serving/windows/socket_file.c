/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/socket_file.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* Did the process with this number begin after `named_ms`, or is there none that runs? One that has
 * ended can be found as long as somebody holds a handle of it. */
static bool is_gone(DWORD process, int64_t named_ms)
{
	static const int64_t epoch_ms = 11644473600000; /* FILETIME counts from 1601 */
	FILETIME created = {0};
	FILETIME unused[3];
	DWORD code = 0;
	HANDLE handle = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process);
	if (handle == NULL)
		return GetLastError() == ERROR_INVALID_PARAMETER;
	bool ended = GetExitCodeProcess(handle, &code) && code != STILL_ACTIVE;
	bool known = GetProcessTimes(handle, &created, &unused[0], &unused[1], &unused[2]);
	(void)CloseHandle(handle);
	uint64_t time = (uint64_t)created.dwHighDateTime << 32 | created.dwLowDateTime;
	return ended || (known && (int64_t)(time / 10000) - epoch_ms > named_ms);
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
