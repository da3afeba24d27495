/* SPDX-License-Identifier: MIT */
#include "conformance/runner/doubles/failing_allocator.h"

#include <errno.h>
#include <stdlib.h>

/* Shared libraries, the C library among them, find these in the place of its own. */
#define REPLACES __attribute__((visibility("default")))

REPLACES void *malloc(size_t size);
REPLACES void *calloc(size_t count, size_t size);
REPLACES void *realloc(void *block, size_t size);
REPLACES void free(void *block);

/* glibc's own, under the names that remain when a program brings a malloc() of its own. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static struct {
	bool armed;
	enum allocator_mode mode;
	size_t at;
	size_t count;
	long live;
} allocator;

static bool allocator_fails(void)
{
	bool fails = false;
	if (!allocator.armed)
		return false;
	allocator.count++;
	if (allocator.mode == ALLOCATOR_FAILS_ONCE)
		fails = allocator.count == allocator.at;
	else if (allocator.mode == ALLOCATOR_FAILS_FROM)
		fails = allocator.count >= allocator.at;
	if (fails)
		errno = ENOMEM;
	return fails;
}

static void *allocator_keep(void *block)
{
	allocator.live += block != NULL ? 1 : 0;
	return block;
}

void *malloc(size_t size)
{
	return allocator_fails() ? NULL : allocator_keep(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return allocator_fails() ? NULL : allocator_keep(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
	void *grown = NULL;
	if (allocator_fails())
		return NULL;
	grown = __libc_realloc(block, size);
	if (block == NULL)
		allocator.live += grown != NULL ? 1 : 0;
	return grown;
}

void free(void *block)
{
	allocator.live -= block != NULL ? 1 : 0;
	__libc_free(block);
}

void allocator_arm(enum allocator_mode mode, size_t at)
{
	allocator.mode = mode;
	allocator.at = at;
	allocator.count = 0;
	allocator.armed = true;
}

size_t allocator_disarm(void)
{
	allocator.armed = false;
	return allocator.count;
}

long allocator_live(void)
{
	return allocator.live;
}
