/* SPDX-License-Identifier: MIT */
#include "bench/samples.h"

#include <stdlib.h>

int samples_reserve(struct samples *samples, size_t capacity, struct error *err)
{
	samples->ns = calloc(capacity, sizeof(*samples->ns));
	if (samples->ns == NULL)
		return error_memory(err);
	samples->capacity = capacity;
	return 0;
}

void samples_add(struct samples *samples, uint64_t ns)
{
	if (samples->count < samples->capacity)
		samples->ns[samples->count++] = ns;
}

static int samples_compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;
	return left < right ? -1 : left > right ? 1 : 0;
}

double samples_percentile_us(struct samples *samples, double percent)
{
	size_t index = 0;
	if (samples->count == 0)
		return 0;
	qsort(samples->ns, samples->count, sizeof(*samples->ns), samples_compare);
	index = (size_t)(percent / 100.0 * (double)(samples->count - 1) + 0.5);
	return (double)samples->ns[index] / 1000.0;
}

void samples_free(struct samples *samples)
{
	free(samples->ns);
	*samples = (struct samples){0};
}
