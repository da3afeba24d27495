/* SPDX-License-Identifier: MIT */
#include "bench/table.h"

#include <stdio.h>

static void table_head(struct table *table)
{
	if (table->rows++ == 0)
		(void)printf("%-64s %12s %10s\n", "figure", "value", "at most");
}

void table_row(struct table *table, const char *what, double value, const char *unit, double most)
{
	table_head(table);
	(void)printf("%-64s %9.2f %-2s", what, value, unit);
	if (most > 0) {
		bool met = value <= most;
		table->missed += met ? 0 : 1;
		(void)printf(" %7.2f %-2s  %s", most, unit, met ? "met" : "MISSED");
	}
	(void)printf("\n");
	(void)fflush(stdout);
}

void table_missing(struct table *table, const char *what, const char *why)
{
	table_head(table);
	table->missed++;
	(void)printf("%-64s not measured: %s\n", what, why);
	(void)fflush(stdout);
}
