/* SPDX-License-Identifier: MIT */
#pragma once

/* A number that differs when a directory's entries differ: FNV-1a over names and, where asked for,
 * over what stat tells of their content. */

#include <stdbool.h>
#include <stdint.h>

#define FINGERPRINT_START UINT64_C(0xcbf29ce484222325)

/* Continues `fingerprint` with the entries of `directory` whose names match `pattern` (text_glob).
 * With `contents`, inode, size and time of change count too. A directory that cannot be read is
 * empty. */
uint64_t fingerprint_directory(uint64_t fingerprint, const char *directory, const char *pattern,
			       bool contents);
