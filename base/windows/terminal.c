/* SPDX-License-Identifier: MIT */
#include "base/style.h"

#include <io.h>
#include <stdlib.h>
#include <windows.h>

enum { STYLE_COLUMNS_DEFAULT = 80 };

static HANDLE style_console(int fd)
{
	return _isatty(fd) != 0 ? (HANDLE)_get_osfhandle(fd) : INVALID_HANDLE_VALUE;
}

/* From Windows 10 on, consoles understand escape sequences once the mode is set. */
bool style_enabled(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	HANDLE console = style_console(fd);
	DWORD mode = 0;
	if ((no_color != NULL && no_color[0] != '\0') || console == INVALID_HANDLE_VALUE)
		return false;
	return GetConsoleMode(console, &mode) &&
	       SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

int style_columns(int fd)
{
	CONSOLE_SCREEN_BUFFER_INFO info = {0};
	if (!GetConsoleScreenBufferInfo(style_console(fd), &info))
		return STYLE_COLUMNS_DEFAULT;
	return info.srWindow.Right - info.srWindow.Left + 1;
}
