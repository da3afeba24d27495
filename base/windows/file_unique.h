/* SPDX-License-Identifier: MIT */
#pragma once

/* New files and directories whose names nobody else has or guesses. */

#include "base/error.h"

#include <windows.h>

/* A file `prefix`XXXXXX, open for writing and renaming; with `file` NULL a directory. `mode` as in
 * base/file.h. Caller frees *path and closes *file. ERROR_NOT_FOUND: the folder is missing. */
int file_make_unique(const char *prefix, unsigned mode, char **path, HANDLE *file,
		     struct error *err);
