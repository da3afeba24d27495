/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Windows paths of a device plugin's answer, read strictly. What comes from a plugin is not
 * trusted: a path that Windows would take for something else than it looks like is refused, and the
 * error says which part and why:
 *
 *   C:\Windows\System32\a.dll, c:/windows/system32/A.DLL     a drive, then steps; either separator
 *   \\server\share, \\?\C:\a, \\.\pipe\a, a\b, C:a, \a       refused: not a path from the root of a
 * drive
 *   "..", "."                                               refused
 *   "a.dll:stream"                                          refused: alternate data stream
 *   "a.dll ", "a.dll."                                      refused: Windows drops the end of the
 * name < > " | ? * and control characters, not UTF-8           refused CON, NUL, COM1, LPT1.txt,
 * ...                           refused: device names
 *
 * Rules: "Naming Files, Paths, and Namespaces" in the Windows documentation.
 */

#include "base/error.h"
#include "base/text.h"

enum { WINDOWS_PATH_MAX = 1024 }; /* bytes */

struct windows_path {
	char drive;		/* 'C', upper case */
	struct text_list steps; /* below the root of the drive; none for the root itself */
};

#define CLEANUP_WINDOWS_PATH __attribute__((cleanup(windows_path_free)))

/* `what` begins the error text ("mount target"). ERROR_ARGUMENT, ERROR_MEMORY. */
int windows_path_parse(const char *text, const char *what, struct windows_path *out,
		       struct error *err);
void windows_path_free(struct windows_path *path);

/*
 * Where the steps lead below a directory of the host whose file system tells case apart: a step is
 * the entry that equals it but for the case of ASCII letters (the exact one first), else its
 * lower-case form, so that two spellings of one Windows path are one path. Symbolic links are
 * followed as long as they stay below `directory`; one that leaves it is refused (ERROR_ARGUMENT).
 * *out is absolute; caller frees. *found tells whether it exists. `directory` is absolute.
 */
int windows_path_below(const struct windows_path *path, const char *directory, char **out,
		       bool *found, struct error *err);
