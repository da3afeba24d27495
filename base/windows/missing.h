/* SPDX-License-Identifier: MIT */
#pragma once

/* Functions of POSIX that MinGW's C library lacks. Included before every source file of a Windows
 * build (cmake/GpucertCompiler.cmake), so that portable code uses them by their names. */

#include <stddef.h>

#define gmtime_r(seconds, parts) (gmtime_s(parts, seconds) == 0 ? (parts) : NULL)

char *strndup(const char *string, size_t size);
void *reallocarray(void *pointer, size_t count, size_t size);
