/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Many reports as one table: how each check ended with each driver on each build of an OS. A column is a
 * driver with its version on an OS; a check that tells outcomes of its devices counts with the worst of
 * those that the driver has, any other check counts in all columns of its report. Software drivers have
 * columns in reports alone that have no other.
 */

#include "base/arena.h"
#include "base/text.h"
#include "base/text_index.h"
#include "reports/model.h"

#include <cjson/cJSON.h>

struct matrix_cell {
	unsigned outcomes[REPORT_OUTCOME_COUNT]; /* in how many runs */
};

struct matrix_column {
	const char *driver; /* "nvidia 552.12" */
	const char *os;	    /* "Windows Server 2022 Datacenter 20348.1547" */
	const char *node;   /* "live", "recorded", "wine" */
	unsigned runs;
	struct matrix_cell *cells; /* of the rows; of those that came later there is none */
	size_t cell_count;
};

/* Empty when zeroed. */
struct matrix {
	struct arena arena;
	struct matrix_column *columns; /* sorted by matrix_sort() */
	size_t column_count;
	const char **rows;  /* ids of checks, sorted by matrix_sort() */
	size_t *row_places; /* where the row's cell is in each column */
	size_t row_count;
	size_t cell_count; /* in all columns */
	size_t reports;
	size_t repeated; /* reports of a run that was there already: they count once */
	struct text_index columns_by_name, rows_by_id, runs;
};

enum { MATRIX_ROWS_MAX = 10000, MATRIX_COLUMNS_MAX = 10000, MATRIX_CELLS_MAX = 4 * 1000 * 1000 };

#define CLEANUP_MATRIX __attribute__((cleanup(matrix_free)))

/* Counts a report. ERROR_FORMAT: not one; ERROR_LIMIT: too many checks, drivers or cells; ERROR_MEMORY. */
int matrix_add(struct matrix *matrix, const cJSON *report, struct error *err);

/* Rows by id, columns by driver, OS and node. ERROR_MEMORY. */
int matrix_sort(struct matrix *matrix, struct error *err);

/* Leaves the rows alone in which a check failed, timed out, crashed or was broken in some run. After matrix_sort(). */
void matrix_keep_failed(struct matrix *matrix);

/* NULL: no run in that column has the row's check. */
const struct matrix_cell *matrix_cell_at(const struct matrix *matrix, size_t row, size_t column);

/* --- matrix_read.c --- */

/* How many reports were read of how many there are. */
typedef void matrix_progress(void *user, size_t done, size_t all);

/* Counts every report.json below the folders (and every file that is named itself), several at a time.
 * Links are not followed: one that is named report.json is told. What cannot be read or is not a report becomes a line of `unread`, "path: why", and
 * the rest is read. `progress` may be NULL. ERROR_NOT_FOUND: there is no report; ERROR_MEMORY. */
int matrix_read(struct matrix *matrix, const struct text_list *paths, matrix_progress *progress,
		void *user, struct text_list *unread, struct error *err);

/* --- matrix_print.c --- */

/* "text" (a table with styles where `color` is set), "markdown", "csv", "json"; NULL-ended. */
extern const char *const matrix_formats[];

/* Adds the sorted matrix; `format` is one of matrix_formats. With `apis_only` the rows are those of the suite
 * "api". Untrusted text is escaped for each format; in CSV no cell begins a formula. */
void matrix_print(const struct matrix *matrix, const char *format, bool apis_only, bool color,
		  const struct text_list *unread, struct text *out);

void matrix_free(struct matrix *matrix);
