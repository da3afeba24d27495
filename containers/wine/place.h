/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/windows_path.h"

/*
 * Where a Windows path leads below a directory of the host whose file system tells case apart: a
 * name is the entry that equals it but for the case of ASCII letters (the exact one first), else its
 * lower-case form, so that two spellings of one Windows path are one path. Symbolic links are
 * followed as long as they stay below `directory`; one that leaves it is refused (ERROR_ARGUMENT).
 * *out is absolute; caller frees. *found tells whether it exists. `directory` is absolute.
 */
int wine_place(const struct windows_path *path, const char *directory, char **out, bool *found,
	       struct error *err);
