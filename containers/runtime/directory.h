/* SPDX-License-Identifier: MIT */
#pragma once

/* The directories of runs below the base directory. */

#include "base/error.h"

#define RUN_DIRECTORY_PREFIX "run-"
#define NEW_DIRECTORY_PREFIX "new-"	/* a run directory that has no owner yet */
#define TEMPORARY_PREFIX     "gpucert-" /* a directory without a runtime, among temporary files */

/* Makes BASE/run-XXXXXX with owner.json and work/; it appears under that name only once it is
 * owned. `base` NULL: RUNTIME_BASE_DIRECTORY, on Windows the user's temporary files; `cri` as for
 * owner_write(). Caller frees *path. ERROR_PERMISSION: not root. ERROR_LIMIT: a socket in it would
 * have too long a path. */
int run_directory_make(const char *base, const char *cri, char **path, struct error *err);

/* Removes it with all that a private containerd left, then the base directory, if no other run has
 * one in it. */
int run_directory_remove(const char *path, struct error *err);
