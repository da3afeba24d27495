/* SPDX-License-Identifier: MIT */
#include "base/style.h"

const char *style(bool enabled, enum style style)
{
	static const char *const sequences[] = {
		[STYLE_RESET] = "\x1b[0m",  [STYLE_BOLD] = "\x1b[1m",	 [STYLE_RED] = "\x1b[31m",
		[STYLE_GREEN] = "\x1b[32m", [STYLE_YELLOW] = "\x1b[33m",
	};
	return enabled ? sequences[style] : "";
}
