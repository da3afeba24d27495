/* SPDX-License-Identifier: MIT */
#ifndef WORKLOADS_COMMON_LIBRARY_H
#define WORKLOADS_COMMON_LIBRARY_H

/*
 * Libraries opened at run time. They are never closed: drivers leave threads and exit handlers
 * behind that need their code until the process ends.
 */

#include "base/error.h"

#include <stddef.h>

/* dlopen(). ERROR_NOT_FOUND: the machine lacks the library itself. ERROR_UNAVAILABLE: it is there,
 * but cannot be loaded (something that it needs is missing, wrong machine); the text says what. */
int library_open(const char *soname, void **handle, struct error *err);

/* The address of a function into the function pointer at `function`. ERROR_NOT_FOUND. */
int library_function(void *handle, const char *name, void *function, struct error *err);

/* Where the library was found, symbolic links resolved; "" when unknown. */
void library_path(void *handle, char *out, size_t size);

#endif
