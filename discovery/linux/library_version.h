/* SPDX-License-Identifier: MIT */
#pragma once

/* The version of a driver library, without loading it, and from any package. */

#include <stddef.h>

enum { LIBRARY_VERSION_SIZE = 64 };

/* The first version after `marker` ("Mesa ") in the library's bytes: it begins with a digit, has a
 * dot, and holds letters, digits and "._+~-" only. Leaves "" when there is none or the file cannot
 * be read. */
void library_version_scan(const char *path, const char *marker, char out[LIBRARY_VERSION_SIZE]);

/* library_version_scan() of bytes in memory. A version that reaches their end is ignored, because it may
 * be cut. */
void library_version_find(const char *data, size_t size, const char *marker,
			  char out[LIBRARY_VERSION_SIZE]);

/* The part of a file name after ".so.": "2.10.0" of "libpocl.so.2.10.0"; "" without one. */
const char *library_version_of_name(const char *path);
