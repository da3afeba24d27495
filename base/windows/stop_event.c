/* SPDX-License-Identifier: MIT */
#include "base/windows/stop_event.h"

#include <stdio.h>

enum { NAME_SIZE = 48 };

static void format_name(DWORD process, wchar_t name[NAME_SIZE])
{
	(void)swprintf(name, NAME_SIZE, L"Local\\gpucert-stop-%lu", (unsigned long)process);
}

HANDLE stop_event_create(void)
{
	wchar_t name[NAME_SIZE];
	format_name(GetCurrentProcessId(), name);
	return CreateEventW(NULL, FALSE, FALSE, name);
}

bool stop_event_set(DWORD process)
{
	wchar_t name[NAME_SIZE];
	format_name(process, name);
	HANDLE event = OpenEventW(EVENT_MODIFY_STATE, FALSE, name);
	if (event == NULL)
		return false;
	bool set = SetEvent(event) != 0;
	(void)CloseHandle(event);
	return set;
}
