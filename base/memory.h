/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Memory from malloc(), for free().
 *
 * A program that called memory_ends_process() ends when memory runs out: its code does not check
 * for NULL, and nothing in base/ fails for lack of memory. In libgpudiscovery and the reference
 * plugin, which run in or next to other people's programs, the functions return NULL and their
 * callers return ERROR_MEMORY.
 */

#include <stddef.h>

/* Zeroed memory for an array. */
void *memory_allocate(size_t count, size_t size);

/* Resizes the array; new elements are not zeroed. NULL: out of memory, the array is unchanged. */
void *memory_resize(void *array, size_t count, size_t size);

/* A copy of the string, and of at most its first `size` bytes. */
char *memory_copy(const char *string);
char *memory_copy_start(const char *string, size_t size);

/* How often these functions have failed in this process. What was made while the number rose may be incomplete, even where
 * nothing reported an error. */
unsigned memory_failures(void);

/* From now on memory that runs out ends the process: "out of memory" on stderr, then this exit
 * code, without any exit handler. cJSON allocates in the same way. main() calls it first. */
void memory_ends_process(int exit_code);
