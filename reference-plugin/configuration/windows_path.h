/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Paths of a Windows node as text, on every system: a recorded node and a configuration are read on
 * Linux too. Both separators count; case does not, for the letters of ASCII.
 */

#include <stdbool.h>

/* The directories that a driver's files are mounted into; the system drive of a container is C:. */
#define WINDOWS_SYSTEM32 "C:\\Windows\\System32"
#define WINDOWS_SYSWOW64 "C:\\Windows\\SysWOW64"

/* The part behind the last separator, within `path`. */
const char *windows_path_base(const char *path);

/* Names, each as path_is_windows_name() wants them, separated by one separator each:
 * "Subdir1\nvcuda64.dll". */
bool windows_path_is_relative(const char *path);

/* A drive, then such names: "C:\Windows\x.dll". Neither "\\server", "\\?\" nor "C:x". */
bool windows_path_is_absolute(const char *path);

/* Is `path` below `directory`? Both absolute as above. */
bool windows_path_is_within(const char *path, const char *directory);

/* Is `path` a file right in `directory`? */
bool windows_path_is_in(const char *path, const char *directory);
