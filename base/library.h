/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Libraries opened at run time. They are never closed: drivers leave threads and exit handlers
 * behind that need their code until the process ends.
 */

#include "base/error.h"

#include <stddef.h>

/* Opens a library by its soname, DLL name or path. On Windows a bare name is looked up only in
 * System32, not next to the program or in PATH; a library of that name that is already loaded is
 * used. ERROR_NOT_FOUND: the machine lacks the library itself. ERROR_UNAVAILABLE: it exists, but
 * cannot be loaded (a missing dependency, wrong machine); the text says why. */
int library_open(const char *name, void **handle, struct error *err);

/* Stores the address of a function in the function pointer at `function`. ERROR_NOT_FOUND. */
int library_function(void *handle, const char *name, void *function, struct error *err);

/* A member that points to a function of this name, as a header declares it, for library_function(). */
#define LIBRARY_FUNCTION(name) __typeof__(name) *name;

/* Where the library was found, symbolic links resolved; "" when unknown. */
void library_path(void *handle, char *out, size_t size);

/* The version that the file states ("31.0.15.3640"); "" when it states none, as on Linux. */
void library_version(void *handle, char *out, size_t size);
