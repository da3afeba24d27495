/* SPDX-License-Identifier: MIT */
#include "base/tests/starved.h"
#include "base/error.h"
#include "base/tests/unit.h"

#include <stdbool.h>
#include <stdlib.h>

/* The linker sends every call of malloc() to __wrap_malloc(), and __real_malloc() to malloc(). */
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);

static size_t until_failure; /* allocations, with the one that fails; 0: none does */

static bool fails(void)
{
	return until_failure != 0 && --until_failure == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return fails() ? NULL : __real_realloc(memory, size);
}

void starved_each(int (*call)(void *user), void *user)
{
	bool failed = true;

	for (size_t n = 1; failed; n++) {
		until_failure = n;
		int rc = call(user);
		failed = until_failure == 0;
		until_failure = 0;
		UNIT_INT(rc, failed ? ERROR_MEMORY : 0);
	}
}
