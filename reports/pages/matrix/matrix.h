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
#include "reports/writer.h"

#include <cjson/cJSON.h>

/* A report that was counted. Strings live as long as the matrix. */
struct matrix_report {
	const char *path;    /* of the file */
	const char *started; /* "2026-11-20T10:15:02.123Z"; "" where it does not say */
};

enum { MATRIX_NEWEST_MAX = 10 };

struct matrix_cell {
	unsigned outcomes[REPORT_OUTCOME_COUNT]; /* in how many runs */
	unsigned latest
		[REPORT_OUTCOME_COUNT]; /* the place in matrix.reports of the run that began last, where there are any */
};

struct matrix_column {
	const char *driver; /* "nvidia 552.12" */
	const char *os;	    /* "Windows Server 2022 Datacenter 20348.1547" */
	const char *node;   /* "live", "recorded", "wine" */
	unsigned runs;
	unsigned newest
		[MATRIX_NEWEST_MAX]; /* places in matrix.reports of the last runs, the last one first */
	struct matrix_cell *cells; /* of the rows; of those that came later there is none */
	size_t cell_count;
};

struct matrix_row {
	const char *id; /* of the check */
	size_t place;	/* of its cell in each column */
};

/* Empty when zeroed. */
struct matrix {
	struct arena arena;
	struct matrix_column *columns; /* sorted by matrix_sort() */
	size_t column_count;
	struct matrix_row *rows; /* sorted by matrix_sort() */
	size_t row_count;
	size_t cell_count; /* in all columns */
	struct matrix_report *reports;
	size_t report_count;
	size_t repeated; /* reports of a run that was there already: they count once */
	struct text_index columns_by_name, rows_by_id, runs;
};

enum {
	MATRIX_ROWS_MAX = 10000,
	MATRIX_COLUMNS_MAX = 10000,
	MATRIX_CELLS_MAX = 4 * 1000 * 1000,
	MATRIX_REPORTS_MAX = 1000 * 1000
};

#define CLEANUP_MATRIX __attribute__((cleanup(matrix_free)))

/* Counts the report of the file `path`. ERROR_FORMAT: not one; ERROR_LIMIT: too many checks, drivers or cells; ERROR_MEMORY. */
int matrix_add(struct matrix *matrix, const char *path, const cJSON *report, struct error *err);

/* Rows by id, columns by driver, OS and node. */
void matrix_sort(struct matrix *matrix);

/* Takes the rows away but those of APIs (the suite "api"), and but those in which a check failed, timed out, crashed or was
 * broken in some run. After matrix_sort(). */
void matrix_keep(struct matrix *matrix, bool apis, bool failed);

/* NULL: no run in that column has the row's check. */
const struct matrix_cell *matrix_cell_at(const struct matrix *matrix, size_t row, size_t column);

/* In how many runs the column has the check, and in how many it failed, timed out, crashed or was broken. */
unsigned matrix_cell_runs(const struct matrix_cell *cell);
unsigned matrix_cell_bad(const struct matrix_cell *cell);

/* The gravest of the outcomes; one of a cell that matrix_cell_at() found. */
enum report_outcome matrix_cell_gravest(const struct matrix_cell *cell);

/* --- matrix_read.c --- */

/* How many reports were read of how many there are. */
typedef void matrix_progress(size_t done, size_t all);

/* Counts every report.json below the folders (and every file that is named itself), several at a time.
 * Links are not followed: one that is named report.json is told. What cannot be read or is not a report becomes a line of `unread`, "path: why", and
 * the rest is read. `progress` may be NULL. ERROR_NOT_FOUND: there is no report; ERROR_MEMORY. */
int matrix_read(struct matrix *matrix, const struct text_list *paths, matrix_progress *progress,
		struct text_list *unread, struct error *err);

/* --- matrix_print.c --- */

/* "text" (a table; what does not fit into options.columns beside each other follows below), "markdown", "csv", "json", "html";
 * NULL-ended. */
extern const char *const matrix_formats[];

/* Adds the sorted matrix; `format` is one of matrix_formats. Untrusted text is escaped for each format; in CSV no cell begins
 * a formula. */
void matrix_print(const struct matrix *matrix, const char *format,
		  const struct writer_options *options, const struct text_list *unread,
		  struct text *out);

/* Adds "nvidia 552.12 on Windows Server 2022 Datacenter 20348.1547 (recorded)", not escaped. */
void matrix_add_column_name(const struct matrix_column *column, struct text *out);

/* --- matrix_page.c --- */

/* Adds the sorted matrix as a page (reports/pages/page.h): a heat map, the runs behind every cell in which one failed or
 * was broken, and those of each column. Rows that pass everywhere are one cell, so that a page stays light. */
void matrix_page(const struct matrix *matrix, const struct text_list *unread, struct text *out);

void matrix_free(struct matrix *matrix);
