/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * POSIX modes on Windows. A mode without bits for group and others is an access list of its own
 * that admits owner, SYSTEM and Administrators and inherits nothing; with other modes the folder's
 * list is inherited.
 */

#include "base/error.h"

#include <windows.h>

/* How a file or directory of this mode is created, so that it is never open to others. Free with
 * private_free(), also after an error. ERROR_IO. */
int private_attributes(unsigned mode, SECURITY_ATTRIBUTES *attributes, struct error *err);
void private_free(SECURITY_ATTRIBUTES *attributes);

#define CLEANUP_PRIVATE CLEANUP(private_free)

#define CLEANUP_HANDLE CLEANUP(private_close) /* initialise with INVALID_HANDLE_VALUE */
void private_close(const HANDLE *file);

/* A new file `prefix`XXXXXXXX with a unique, unpredictable name, open for writing and renaming;
 * with `file` NULL a directory. Caller frees *path and closes *file. ERROR_NOT_FOUND: the folder is
 * missing. */
int private_make_unique(const char *prefix, unsigned mode, char **path, HANDLE *file,
			struct error *err);
