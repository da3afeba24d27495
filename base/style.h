/* SPDX-License-Identifier: MIT */
#pragma once

/* Terminal styles: only on a TTY, never with NO_COLOR set (https://no-color.org) or TERM=dumb. */

#include <stdbool.h>

enum style { STYLE_RESET, STYLE_BOLD, STYLE_RED, STYLE_GREEN, STYLE_YELLOW };

bool style_enabled(int fd);

/* The escape sequence, or "" when `enabled` is false. */
const char *style(bool enabled, enum style style);

/* Columns of the terminal on `fd`; 80 when it is not a terminal. */
int style_columns(int fd);
