/* SPDX-License-Identifier: MIT */
#include "base/memory_internal.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int memory_exit_code_ = -1;
static atomic_uint failures;

void *memory_checked_(void *memory)
{
	static const char message[] = "out of memory\n";

	if (memory == NULL && memory_exit_code_ >= 0) {
		(void)fwrite(message, 1, sizeof(message) - 1, stderr);
		_Exit(memory_exit_code_);
	}
	if (memory == NULL)
		failures++;
	return memory;
}

unsigned memory_failures(void)
{
	return failures;
}

void *memory_allocate(size_t count, size_t size)
{
	/* calloc() may return NULL for a size of 0. */
	return memory_checked_(count != 0 && size != 0 ? calloc(count, size) : calloc(1, 1));
}

void *memory_resize(void *array, size_t count, size_t size)
{
	return memory_checked_(size != 0 && count <= SIZE_MAX / size
				       ? realloc(array, count != 0 ? count * size : 1)
				       : NULL);
}

char *memory_copy(const char *string)
{
	return memory_copy_start(string, strlen(string));
}

char *memory_copy_start(const char *string, size_t size)
{
	size_t length = strnlen(string, size);
	char *copy = memory_checked_(malloc(length + 1));

	if (copy != NULL) {
		memcpy(copy, string, length);
		copy[length] = '\0';
	}
	return copy;
}
