/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

char *strndup(const char *string, size_t size)
{
	size_t length = strnlen(string, size);
	char *copy = malloc(length + 1);
	if (copy == NULL)
		return NULL;
	memcpy(copy, string, length);
	copy[length] = '\0';
	return copy;
}

void *reallocarray(void *pointer, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(pointer, count * size != 0 ? count * size : 1);
}
