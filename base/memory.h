/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Memory from malloc(), for free().
 *
 * A program that called memory_ends_process() ends when memory runs out: its code does not look for
 * NULL, and nothing in base/ fails there for want of memory. In libgpudiscovery and in the
 * reference plugin, which live in or beside other people's programs, the functions return NULL and
 * the error codes of their callers say so.
 */

#include <stddef.h>

/* Zeroed memory for an array. */
void *memory_allocate(size_t count, size_t size);

/* The array with another count of elements; new ones are not zeroed. NULL leaves it as it was. */
void *memory_resize(void *array, size_t count, size_t size);

/* A copy of the string, and of at most its first `size` bytes. */
char *memory_copy(const char *string);
char *memory_copy_start(const char *string, size_t size);

/* From now on memory that runs out ends the process: "out of memory" on stderr, then this exit
 * code, without any exit handler. cJSON allocates in the same way. main() calls it first. */
void memory_ends_process(int exit_code);
