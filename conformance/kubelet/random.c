/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/random.h"

uint64_t random_next(struct random *random)
{
	random->state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t value = random->state;
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

uint64_t random_below(struct random *random, uint64_t limit)
{
	return limit == 0 ? 0 : random_next(random) % limit;
}

void random_shuffle(struct random *random, const char **items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = (size_t)random_below(random, i);
		const char *item = items[i - 1];
		items[i - 1] = items[other];
		items[other] = item;
	}
}
