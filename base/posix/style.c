/* SPDX-License-Identifier: MIT */
#include "base/style.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { STYLE_COLUMNS_DEFAULT = 80 };

bool style_enabled(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	if (no_color != NULL && no_color[0] != '\0')
		return false;
	if (terminal == NULL || strcmp(terminal, "dumb") == 0)
		return false;
	return isatty(fd) == 1;
}

const char *style(bool enabled, enum style style)
{
	static const char *const sequences[] = {
		[STYLE_RESET] = "\x1b[0m", [STYLE_BOLD] = "\x1b[1m",   [STYLE_DIM] = "\x1b[2m",
		[STYLE_RED] = "\x1b[31m",  [STYLE_GREEN] = "\x1b[32m", [STYLE_YELLOW] = "\x1b[33m",
		[STYLE_BLUE] = "\x1b[34m",
	};

	return enabled ? sequences[style] : "";
}

int style_columns(int fd)
{
	struct winsize size = {0};

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return STYLE_COLUMNS_DEFAULT;
	return size.ws_col;
}
