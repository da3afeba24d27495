/* SPDX-License-Identifier: MIT */
#ifndef BASE_WINDOWS_PRIVATE_H
#define BASE_WINDOWS_PRIVATE_H

/*
 * What a POSIX mode means on Windows. A mode without bits for group and others is an access list of
 * its own that admits owner, SYSTEM and Administrators and inherits nothing; other modes leave what
 * the folder hands down.
 */

#include "base/error.h"

/* To an existing file or directory. ERROR_IO, ERROR_MEMORY. */
int private_apply(const char *path, unsigned mode, struct error *err);

#endif
