/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/file.h"

/* One directory in one that exists. */
int file_make_directory(const char *path, unsigned mode, struct error *err);

/* The path as libuv takes it at any length. NULL: out of memory. Caller frees. */
char *file_native_path(const char *path);
