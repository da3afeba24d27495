/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * bench/ measures the project's own speed and size, as ratios against a peer in the same run
 * (README.md).
 *
 * Here: repeated measurements of a time, and the printed table with one row a figure.
 */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct samples {
	uint64_t *ns;
	size_t count;
	size_t capacity;
};

#define CLEANUP_SAMPLES __attribute__((cleanup(samples_free)))

void samples_reserve(struct samples *samples, size_t capacity);
void samples_add(struct samples *samples, uint64_t ns); /* dropped beyond the reserved capacity */

/* The value that `percent` of the samples do not exceed, in microseconds; 0 without samples. Sorts.
 */
double samples_percentile_us(struct samples *samples, double percent);
void samples_free(struct samples *samples);

/* `value` and `most` in the row's unit ("x" for a ratio). `most` 0: no target. */
void table_row(const char *what, double value, const char *unit, double most);

/* A row that could not be measured. */
void table_missing(const char *what, const char *why);

/* Has every row met its target? */
bool table_is_met(void);

/* The floor: a child process that answers `request_size` bytes with `reply_size` bytes over
 * AF_UNIX, with blocking reads and writes and nothing else. */
int echo_measure(size_t request_size, size_t reply_size, size_t calls, struct samples *out,
		 struct error *err);

/* Rows for the growth of the checks' own time, without waits for the plugin, with the data that a plugin
 * sends: ten times as much takes about ten times as long. */
int growth_measure(struct error *err);

/* A row for the time of `image select`, without the start of the program. */
int selection_measure(struct error *err);

/* Rows for the time and the memory of `gpucert matrix` with 10,000 reports. Needs some gigabytes below
 * /tmp. */
int matrix_measure(struct error *err);
