/* SPDX-License-Identifier: MIT */
#pragma once

/* The printed table: one row a figure, with its target and whether it is met. */

#include <stdbool.h>
#include <stddef.h>

struct table {
	size_t rows;
	size_t missed;
};

/* `value` and `most` in the row's unit ("x" for a ratio). `most` 0: no target. */
void table_row(struct table *table, const char *what, double value, const char *unit, double most);

/* A row that could not be measured. */
void table_missing(struct table *table, const char *what, const char *why);
