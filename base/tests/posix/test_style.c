/* SPDX-License-Identifier: MIT */
#include "base/style.h"

#include "base/tests/unit.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void test_style(void)
{
	struct winsize size = {.ws_col = 123, .ws_row = 40};
	int file = open("/dev/null", O_RDWR | O_CLOEXEC);
	int terminal = -1;
	int other = -1;
	(void)setenv("TERM", "xterm", 1);
	(void)unsetenv("NO_COLOR");
	UNIT_STRING(style(true, STYLE_RED), "\x1b[31m");
	UNIT_STRING(style(true, STYLE_RESET), "\x1b[0m");
	UNIT_STRING(style(false, STYLE_RED), "");
	CU_ASSERT_FALSE(style_enabled(file));
	UNIT_INT(style_columns(file), 80);
	UNIT_NEED(openpty(&other, &terminal, NULL, NULL, &size) == 0);
	CU_ASSERT_TRUE(style_enabled(terminal));
	UNIT_INT(style_columns(terminal), 123);
	(void)setenv("NO_COLOR", "", 1);
	CU_ASSERT_TRUE(style_enabled(terminal));
	(void)setenv("NO_COLOR", "1", 1);
	CU_ASSERT_FALSE(style_enabled(terminal));
	(void)unsetenv("NO_COLOR");
	(void)setenv("TERM", "dumb", 1);
	CU_ASSERT_FALSE(style_enabled(terminal));
	(void)unsetenv("TERM");
	CU_ASSERT_FALSE(style_enabled(terminal));
	(void)close(file);
	(void)close(other);
	(void)close(terminal);
}

UNIT_MAIN("style", {"terminals", test_style})
