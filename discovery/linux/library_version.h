/* SPDX-License-Identifier: MIT */
#pragma once

/* The version of a driver library, without loading it or asking a package manager. */

#include <stddef.h>

enum { LIBRARY_VERSION_SIZE = 64 };

/* The first version after `marker` ("Mesa ") in the library's bytes: it begins with a digit, has a dot,
 * and holds letters, digits and "._+~-" only. Compilers may store short texts as constants of 16 bytes,
 * where "Mesa 25.0.7-2+deb13u1" ends early or runs into another text: a string of the library that starts
 * with the same number and is a version as a whole then takes precedence. Leaves "" when there is no
 * version or the file cannot be read. */
void library_version_scan(const char *path, const char *marker, char out[LIBRARY_VERSION_SIZE]);

/* The first version after a marker in bytes in memory; returns where it begins, NULL without one. A version
 * that reaches their end is ignored, because it may be cut. */
const char *library_version_find(const char *data, size_t size, const char *marker,
				 char out[LIBRARY_VERSION_SIZE]);

/* The same for the first text between two NUL that begins with `number` ("25.0.7") and is a version. */
const char *library_version_find_whole(const char *data, size_t size, const char *number,
				       char out[LIBRARY_VERSION_SIZE]);

/* The part of a file name after ".so.": "2.10.0" of "libpocl.so.2.10.0"; "" without one. */
const char *library_version_of_name(const char *path);
