/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/shared.h"

#include "workloads/doubles/settings.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILE_SIZE = 64 << 20, BEGINNING = 4096, CAPACITY = 5 << 20 };

struct device {
	uint64_t lost;
	uint64_t taken; /* bytes */
};

static int descriptor = -1;
static struct device *device; /* NULL: nothing is shared */
static size_t used = BEGINNING;

void shared_open(void)
{
	char path[4096] = "";
	if (device != NULL || !setting_text("shared", path, sizeof(path)))
		return;
	descriptor = open(path, O_RDWR | O_CLOEXEC);
	if (descriptor < 0 || ftruncate(descriptor, FILE_SIZE) != 0)
		_Exit(98);
	device = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	if (device == MAP_FAILED || flock(descriptor, LOCK_SH) != 0)
		_Exit(98);
}

void *shared_allocate(size_t size)
{
	if (device == NULL)
		return calloc(1, size);
	if (setting_has("kept") &&
	    __atomic_add_fetch(&device->taken, size, __ATOMIC_SEQ_CST) > CAPACITY) {
		(void)__atomic_sub_fetch(&device->taken, size, __ATOMIC_SEQ_CST);
		return NULL;
	}
	if (!setting_has("residue") || used + size > FILE_SIZE)
		return calloc(1, size);
	used += size;
	return (char *)device + used - size;
}

void shared_free(void *memory, size_t size)
{
	if (device != NULL && setting_has("kept") && memory != NULL)
		(void)__atomic_sub_fetch(&device->taken, size, __ATOMIC_SEQ_CST);
	if (device == NULL || !setting_has("residue"))
		free(memory);
}

void shared_fail(void)
{
	if (device != NULL)
		__atomic_store_n(&device->lost, 1, __ATOMIC_SEQ_CST);
}

bool shared_is_lost(void)
{
	return device != NULL && setting_has("lost") &&
	       __atomic_load_n(&device->lost, __ATOMIC_SEQ_CST) != 0;
}

/* The lock cannot be exclusive while another process shares it. */
bool shared_begin(void)
{
	if (device == NULL)
		return false;
	if (setting_has("alone"))
		(void)flock(descriptor, LOCK_EX);
	if (!setting_has("mixed"))
		return false;
	bool crowded = flock(descriptor, LOCK_EX | LOCK_NB) != 0;
	(void)flock(descriptor, LOCK_SH);
	return crowded;
}
