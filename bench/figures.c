/* SPDX-License-Identifier: MIT */
#include "bench/figures.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

void samples_reserve(struct samples *samples, size_t capacity)
{
	samples->ns = memory_allocate(capacity, sizeof(*samples->ns));
	samples->capacity = capacity;
}

void samples_add(struct samples *samples, uint64_t ns)
{
	if (samples->count < samples->capacity)
		samples->ns[samples->count++] = ns;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;
	return (left > right) - (left < right);
}

double samples_percentile_us(struct samples *samples, double percent)
{
	if (samples->count == 0)
		return 0;
	qsort(samples->ns, samples->count, sizeof(*samples->ns), compare);
	size_t index = (size_t)(percent / 100.0 * (double)(samples->count - 1) + 0.5);
	return (double)samples->ns[index] / 1000.0;
}

void samples_free(struct samples *samples)
{
	free(samples->ns);
	*samples = (struct samples){0};
}

static size_t rows, missed;

static void table_head(void)
{
	if (rows++ == 0)
		(void)printf("%-64s %12s %10s\n", "figure", "value", "at most");
}

void table_row(const char *what, double value, const char *unit, double most)
{
	bool met = most <= 0 || value <= most;
	table_head();
	(void)printf("%-64s %9.2f %-2s", what, value, unit);
	if (most > 0)
		(void)printf(" %7.2f %-2s  %s", most, unit, met ? "met" : "MISSED");
	(void)printf("\n");
	(void)fflush(stdout);
	missed += met ? 0 : 1;
}

void table_missing(const char *what, const char *why)
{
	table_head();
	(void)printf("%-64s not measured: %s\n", what, why);
	(void)fflush(stdout);
	missed++;
}

bool table_is_met(void)
{
	return missed == 0;
}
