/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/random.h"

#include <string.h>

static uint64_t next(struct random *random)
{
	random->state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t value = random->state;
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

void random_shuffle(struct random *random, void *pointers, size_t count)
{
	enum { SIZE = sizeof(void *) };
	for (size_t i = count; i > 1; i--) {
		char *last = (char *)pointers + (i - 1) * SIZE;
		char *other = (char *)pointers + next(random) % i * SIZE;
		char item[SIZE];
		memcpy(item, last, SIZE);
		memmove(last, other, SIZE);
		memcpy(other, item, SIZE);
	}
}
