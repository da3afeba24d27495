/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Paths of a Windows node as text, on every system: a plugin's answer, a recorded node and a
 * configuration are read on Linux too. They are not trusted: names that Windows would interpret
 * differently are refused. Both separators count; the case of ASCII letters does not.
 *
 *   C:\Windows\System32\a.dll, c:/windows/system32/A.DLL      a drive, then names
 *   \\server\share, \\?\C:\a, \\.\pipe\a, a\b, C:a, \a        not from the root of a drive
 *   "..", "."                                                 refused
 *   "a.dll:stream"                                            alternate data stream
 *   "a.dll ", "a.dll."                                        Windows drops the end of the name
 *   < > " | ? * and control characters, not UTF-8             refused
 *   CON, NUL, COM1, LPT1.txt, ...                             devices
 *
 * Rules: "Naming Files, Paths, and Namespaces" in the Windows documentation.
 */

#include "base/text.h"

enum {
	WINDOWS_PATH_MAX = 1024, /* bytes */
	WINDOWS_NAME_MAX = 255,	 /* UTF-16 units, the limit of NTFS */
};

/* The directories that a driver's files are mounted into; the system drive of a container is C:. */
#define WINDOWS_SYSTEM32 "C:\\Windows\\System32"
#define WINDOWS_SYSWOW64 "C:\\Windows\\SysWOW64"

struct windows_path {
	char drive;		/* 'C', upper case */
	struct text_list names; /* below the root of the drive; none for the root itself */
};

#define CLEANUP_WINDOWS_PATH __attribute__((cleanup(windows_path_free)))

/* `what` begins the error text ("mount target"). Repeated separators count as one; a trailing one
 * is allowed. ERROR_ARGUMENT with the place, ERROR_MEMORY. */
int windows_path_parse(const char *text, const char *what, struct windows_path *out,
		       struct error *err);
void windows_path_free(struct windows_path *path);

bool windows_path_is_separator(char c);

/* In place: each '/' becomes a backslash. */
void windows_path_use_backslashes(char *path);

/* Would Windows create exactly this name for it? */
bool windows_path_is_name(const char *name);

/* Valid names with one separator between them: "Subdir1\nvcuda64.dll". */
bool windows_path_is_relative(const char *path);

/* A drive, then valid names: "C:\Windows\x.dll". */
bool windows_path_is_absolute(const char *path);

/* Is `path` below `directory`? Both absolute as above. */
bool windows_path_is_within(const char *path, const char *directory);

/* Is `path` a file right in `directory`? */
bool windows_path_is_in(const char *path, const char *directory);

/* The part after the last separator, within `path`. */
const char *windows_path_base(const char *path);

/* A canonical spelling of a path: "c:\windows\a.dll". Case and the kind and number of separators do
 * not matter, and a path without a drive is on C:. Any text has one. NULL: out of memory. */
char *windows_path_place(const char *path);
