/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/file.h"

/* Makes one directory; its parent exists. */
int file_make_directory(const char *path, unsigned mode, struct error *err);

/* The path in the form that libuv accepts at any length. NULL: out of memory. Caller frees. */
char *file_native_path(const char *path);
