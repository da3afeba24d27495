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

int style_columns(int fd)
{
	struct winsize size = {0};
	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return STYLE_COLUMNS_DEFAULT;
	return size.ws_col;
}
