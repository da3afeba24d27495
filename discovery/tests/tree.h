/* SPDX-License-Identifier: MIT */
#pragma once

/* Root folders for tests, made from the text form that trees/README.md describes, and removed
 * again. */

#include "base/error.h"

#include <stddef.h>

/* A new folder below the test's temporary directory. NULL with a message on stderr. Caller gives it
 * to tree_remove(). */
char *tree_new(void);

/* Adds what the file `tree` of trees/NAME describes. Errors name the line. */
int tree_add(const char *root, const char *name, struct error *err);

/* Adds one file or link; `path` is below `root`. */
int tree_file(const char *root, const char *path, const void *content, size_t size,
	      struct error *err);
int tree_link(const char *root, const char *path, const char *target, struct error *err);

/* Takes a snapshot of the root folder and frees it again. For starved_each(). */
int tree_take(void *root);

void tree_remove(char **root);

#define CLEANUP_TREE __attribute__((cleanup(tree_remove)))
