/* SPDX-License-Identifier: MIT */
#ifndef REFERENCE_PLUGIN_WINDOWS_PATH_H
#define REFERENCE_PLUGIN_WINDOWS_PATH_H

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

/* A file name that means one file in the directory it is put into: without separators, streams
 * ("a.dll:b"), wildcards and control characters, not "." or "..", not ending in a dot or blank,
 * which Windows drops, and not a device ("NUL", "com1.dll"). */
bool windows_path_is_bare_name(const char *name);

/* Bare names separated by one separator each: "Subdir1\nvcuda64.dll". */
bool windows_path_is_relative(const char *path);

/* A drive, then bare names: "C:\Windows\x.dll". Neither "\\server", "\\?\" nor "C:x". */
bool windows_path_is_absolute(const char *path);

/* Is `path` below `directory`? Both absolute as above. */
bool windows_path_is_within(const char *path, const char *directory);

/* Is `path` a file right in `directory`? */
bool windows_path_is_in(const char *path, const char *directory);

#endif
