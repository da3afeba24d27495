/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Many reports as one table: the outcomes of each check with each driver on each build of an OS. A column is a
 * driver with its version on an OS. A check with an outcome for each device counts with the worst of the driver's
 * devices; any other check counts in all columns of its report. Software drivers have columns only in reports
 * without another driver.
 */

#include "base/arena.h"
#include "base/text.h"
#include "base/text_index.h"
#include "reports/document.h"
#include "reports/writer.h"

#include <cjson/cJSON.h>

/* A report that was counted. Strings live as long as the matrix. */
struct matrix_report {
	const char *path;    /* of the file */
	const char *started; /* "2026-11-20T10:15:02.123Z"; "": unknown */
};

enum { MATRIX_NEWEST_MAX = 10 };

struct matrix_cell {
	unsigned outcomes[REPORT_OUTCOME_COUNT]; /* the number of runs */
	unsigned latest
		[REPORT_OUTCOME_COUNT]; /* of these, the place in matrix.reports of the one that began last */
};

struct matrix_column {
	const char *driver; /* "nvidia 552.12" */
	const char *os;	    /* "Windows Server 2022 Datacenter 20348.1547" */
	const char *node;   /* "live", "recorded", "wine" */
	unsigned runs;
	unsigned newest
		[MATRIX_NEWEST_MAX]; /* places in matrix.reports of the last runs, the last one first */
	struct matrix_cell *cells; /* of the rows; rows that were added later have none */
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
	size_t repeated; /* further reports of a counted run: they do not count */
	struct text_index columns_by_name, rows_by_id, runs;
};

enum {
	MATRIX_ROWS_MAX = 10000,
	MATRIX_COLUMNS_MAX = 10000,
	MATRIX_CELLS_MAX = 4 * 1000 * 1000,
	MATRIX_REPORTS_MAX = 1000 * 1000
};

#define CLEANUP_MATRIX __attribute__((cleanup(matrix_free)))

/* Most of a report's members: nothing of them is counted. */
extern const char *const matrix_unneeded[];

/* Counts the report of the file `path` in the struct matrix `to`: a `use` of report_files_read(). ERROR_FORMAT: not one;
 * ERROR_LIMIT: too many checks, drivers or cells. */
int matrix_add(const char *path, const cJSON *report, void *to, struct error *err);

/* Rows by id, columns by driver, OS and node. */
void matrix_sort(struct matrix *matrix);

/* Keeps only the rows of APIs (the suite "api"), or those with a failure, time-out, crash or broken run, or the rows that
 * are both. After matrix_sort(). */
void matrix_keep(struct matrix *matrix, bool apis, bool failed);

/* NULL: no run in that column has the row's check. */
const struct matrix_cell *matrix_cell_at(const struct matrix *matrix, size_t row, size_t column);

/* The number of runs. */
unsigned matrix_cell_runs(const struct matrix_cell *cell);

/* The gravest outcome of a cell that matrix_cell_at() found. */
enum report_outcome matrix_cell_gravest(const struct matrix_cell *cell);

/* --- matrix_print.c --- */

/* "text" (a table; columns that do not fit into options.columns follow below), "markdown", "csv", "json", "html";
 * NULL-ended. */
extern const char *const matrix_formats[];

/* Adds the sorted matrix; `format` is one of matrix_formats. Untrusted text is escaped for each format; in CSV no cell begins
 * a formula. */
void matrix_print(const struct matrix *matrix, const char *format,
		  const struct writer_options *options, const struct text_list *unread,
		  struct text *out);

/* --- matrix_document.c --- */

/* Adds the sorted matrix. A page also has the runs of each cell that fails or proves nothing, and those of each column; its
 * rows are sorted by what needs attention, and those that pass everywhere are one cell, to keep it small. */
void matrix_write(const struct matrix *matrix, const struct text_list *unread, struct doc *doc);

void matrix_free(struct matrix *matrix);
