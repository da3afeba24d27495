/* SPDX-License-Identifier: MIT */
#pragma once

/* Between the project's UTF-8 and the wide strings of the Windows API, and errors of that API. */

#include "base/error.h"

#include <wchar.h>

/* NUL-ended. NULL: out of memory. Caller frees. */
wchar_t *wide_from_utf8(const char *text);
char *wide_to_utf8(const wchar_t *text);

/* A path for the file functions of the Windows API: with backslashes, and where it is longer than
 * MAX_PATH allows, absolute with the prefix "\\?\". NULL: out of memory. Caller frees. */
wchar_t *wide_path(const char *path);

/* The same, always absolute. */
wchar_t *wide_full_path(const char *path);

/* As error_system() for a code of GetLastError(). */
int error_windows(struct error *err, unsigned long code, const char *format, ...) PRINTF_LIKE(3, 4);
