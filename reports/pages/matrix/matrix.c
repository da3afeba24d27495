/* SPDX-License-Identifier: MIT */
#include "reports/pages/matrix/matrix.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/version.h"
#include "reports/environment.h"
#include "reports/view.h"

#include <stdlib.h>
#include <string.h>

enum { DRIVERS_MAX = 64, DEVICES_MAX = 1024 }; /* of one report */

const char *const matrix_unneeded[] = {
	"assertions", "attempts", "evidence",	  "notes",	 "events",	 "phases",
	"phasesMs",   "time",	  "observations", "predictions", "requirements", "totals",
	"invocation", "advice",	  "title",	  "reason",	 "cause",	 "unproven",
	"watched",    "expected", "level",	  "severity",	 "requirement",	 "disposition",
	"leftOut",    NULL};

/* The columns that a report counts in, and which devices have the driver of each. */
struct report_columns {
	size_t places[DRIVERS_MAX];
	const char *keys[DRIVERS_MAX]; /* of the drivers; NULL: the report knows none */
	size_t count;
	struct text_index devices; /* their references, with the number of the column */
};

static void columns_free(struct report_columns *columns)
{
	text_index_free(&columns->devices);
}

static int find_row(struct matrix *matrix, const char *id, size_t *place, struct error *err)
{
	if (text_index_get(&matrix->rows_by_id, id, place))
		return 0;
	if (matrix->row_count == MATRIX_ROWS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d checks", (int)MATRIX_ROWS_MAX);
	const struct matrix_row row = {arena_string(&matrix->arena, id), matrix->row_count};
	matrix->rows = array_grow(matrix->rows, matrix->row_count, sizeof(*matrix->rows));
	matrix->rows[matrix->row_count++] = row;
	*place = text_index_put(&matrix->rows_by_id, row.id, row.place);
	return 0;
}

/* `driver` NULL: the report knows none. */
static int find_column(struct matrix *matrix, const cJSON *environment, const cJSON *driver,
		       size_t *place, struct error *err)
{
	struct text os CLEANUP_TEXT = {0};
	struct text name CLEANUP_TEXT = {0};
	const char *node = view_string(environment, "/node/kind");
	environment_add_name("os", cJSON_GetObjectItemCaseSensitive(environment, "os"), &os);
	environment_add_name("drivers", driver, &name);
	if (os.size == 0)
		text_add(&os, "unknown OS");
	if (name.size == 0)
		text_add(&name, "no driver");
	char *key CLEANUP_FREE =
		text_format("%s\n%s\n%s", text_string(&name), text_string(&os), node);
	if (text_index_get(&matrix->columns_by_name, key, place))
		return 0;

	if (matrix->column_count == MATRIX_COLUMNS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d drivers and builds",
				 (int)MATRIX_COLUMNS_MAX);
	matrix->columns =
		array_grow(matrix->columns, matrix->column_count, sizeof(*matrix->columns));
	matrix->columns[matrix->column_count++] = (struct matrix_column){
		.driver = arena_string(&matrix->arena, text_string(&name)),
		.os = arena_string(&matrix->arena, text_string(&os)),
		.node = arena_string(&matrix->arena, node),
	};
	*place = text_index_put(&matrix->columns_by_name, arena_string(&matrix->arena, key),
				matrix->column_count - 1);
	return 0;
}

static int find_columns(struct matrix *matrix, const cJSON *report, struct report_columns *out,
			struct error *err)
{
	const cJSON *environment = cJSON_GetObjectItemCaseSensitive(report, "environment");
	const cJSON *drivers = cJSON_GetObjectItemCaseSensitive(environment, "drivers");
	bool hardware = false;
	json_each (driver, drivers)
		hardware = hardware || !json_pointer_true(driver, "/software");
	json_each (driver, drivers) {
		if (hardware && json_pointer_true(driver, "/software"))
			continue;
		out->keys[out->count] = view_string(driver, "/key");
		int rc = find_column(matrix, environment, driver, &out->places[out->count++], err);
		if (rc < 0)
			return rc;
	}
	if (out->count == 0)
		return find_column(matrix, environment, NULL, &out->places[out->count++], err);

	json_each (device, cJSON_GetObjectItemCaseSensitive(environment, "devices")) {
		size_t column = 0;
		while (column < out->count &&
		       !text_equal(out->keys[column], view_string(device, "/driver")))
			column++;
		(void)text_index_put(&out->devices, view_string(device, "/ref"), column);
	}
	return 0;
}

/* The outcome of a check on the devices of a column's driver; REPORT_OUTCOME_COUNT: it was for other devices. */
static enum report_outcome outcome_in(const struct view_check *check,
				      const struct report_columns *columns, size_t column)
{
	const cJSON *outcomes = cJSON_GetObjectItemCaseSensitive(check->json, "deviceOutcomes");
	bool recorded[REPORT_OUTCOME_COUNT] = {false};
	bool any = false;
	if (columns->keys[column] == NULL || json_first(outcomes) == NULL)
		return check->outcome;
	json_each (item, outcomes) {
		const enum report_outcome outcome =
			report_outcome_of(view_string(item, "/outcome"));
		size_t of = 0;
		if (outcome == REPORT_OUTCOME_COUNT ||
		    !text_index_get(&columns->devices, view_string(item, "/ref"), &of) ||
		    of == columns->count || !text_equal(columns->keys[of], columns->keys[column]))
			continue;
		recorded[outcome] = true;
		any = true;
	}
	return any ? report_outcome_decided(recorded) : REPORT_OUTCOME_COUNT;
}

/* Reports that began at the same time are ordered by name: the order of reading does not matter. */
static bool is_later(const struct matrix_report *a, const struct matrix_report *b)
{
	const int order = strcmp(a->started, b->started);
	return order > 0 || (order == 0 && strcmp(a->path, b->path) < 0);
}

/* Counts the last of the reports. */
static int count_in(struct matrix *matrix, struct matrix_column *column, size_t row,
		    enum report_outcome outcome, struct error *err)
{
	if (row >= column->cell_count) {
		const size_t more = (row + 1) * 2 - column->cell_count;
		if (matrix->cell_count + more > MATRIX_CELLS_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d cells",
					 (int)MATRIX_CELLS_MAX);
		column->cells = memory_resize(column->cells, column->cell_count + more,
					      sizeof(*column->cells));
		memset(column->cells + column->cell_count, 0, more * sizeof(*column->cells));
		column->cell_count += more;
		matrix->cell_count += more;
	}
	struct matrix_cell *cell = &column->cells[row];
	const unsigned place = (unsigned)matrix->report_count - 1;
	if (cell->outcomes[outcome]++ == 0 ||
	    is_later(&matrix->reports[place], &matrix->reports[cell->latest[outcome]]))
		cell->latest[outcome] = place;
	return 0;
}

/* The last of the reports is one of the column's. */
static void add_run(const struct matrix *matrix, struct matrix_column *column)
{
	unsigned place = (unsigned)matrix->report_count - 1;
	for (size_t i = 0; i < MATRIX_NEWEST_MAX; i++) {
		const unsigned present = column->newest[i];
		if (i < column->runs &&
		    !is_later(&matrix->reports[place], &matrix->reports[present]))
			continue;
		column->newest[i] = place;
		place = present;
		if (i >= column->runs)
			break;
	}
	column->runs++;
}

int matrix_add(const char *path, const cJSON *report, void *to, struct error *err)
{
	struct matrix *matrix = to;
	static const struct {
		const char *section;
		int max;
	} limits[] = {{"/environment/drivers", DRIVERS_MAX}, {"/environment/devices", DEVICES_MAX}};
	struct view view CLEANUP_VIEW = {0};
	struct report_columns columns CLEANUP(columns_free) = {0};
	const char *run = view_string(report, "/run/journal/digest");

	/* A report that is refused by a limit is counted nowhere. */
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		if (cJSON_GetArraySize(json_pointer(report, limits[i].section)) > limits[i].max)
			return error_set(err, ERROR_LIMIT, "%s: more than %d",
					 limits[i].section + 1, limits[i].max);
	}
	if (matrix->report_count == MATRIX_REPORTS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d reports", (int)MATRIX_REPORTS_MAX);
	int rc = view_open(report, &view, err);
	if (rc < 0)
		return rc;
	if (run[0] != '\0' && text_index_put(&matrix->runs, arena_string(&matrix->arena, run),
					     matrix->report_count) != matrix->report_count) {
		matrix->repeated++;
		return 0;
	}

	matrix->reports =
		array_grow(matrix->reports, matrix->report_count, sizeof(*matrix->reports));
	matrix->reports[matrix->report_count++] = (struct matrix_report){
		.path = arena_string(&matrix->arena, path),
		.started = arena_string(&matrix->arena, view_string(report, "/run/started"))};
	rc = find_columns(matrix, report, &columns, err);
	for (size_t i = 0; rc == 0 && i < view.count; i++) {
		size_t row = 0;
		rc = find_row(matrix, view.checks[i].id, &row, err);
		for (size_t k = 0; rc == 0 && k < columns.count; k++) {
			const enum report_outcome outcome =
				outcome_in(&view.checks[i], &columns, k);
			if (outcome != REPORT_OUTCOME_COUNT)
				rc = count_in(matrix, &matrix->columns[columns.places[k]], row,
					      outcome, err);
		}
	}
	for (size_t i = 0; rc == 0 && i < columns.count; i++)
		add_run(matrix, &matrix->columns[columns.places[i]]);
	return rc;
}

/* As strcmp(), but numbers are compared by value: 552.9 comes before 552.12. */
static int compare_names(const char *a, const char *b)
{
	while (*a != '\0' && *b != '\0') {
		const size_t x = strspn(a, "0123456789");
		const size_t y = strspn(b, "0123456789");
		if (x > 0 && y > 0) {
			const int order = version_compare(a, b);
			if (order != 0)
				return order;
			a += x;
			b += y;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	return strcmp(a, b);
}

static int compare_columns(const void *a, const void *b)
{
	const struct matrix_column *x = a;
	const struct matrix_column *y = b;
	int order = compare_names(x->driver, y->driver);
	if (order == 0)
		order = compare_names(x->os, y->os);
	return order != 0 ? order : strcmp(x->node, y->node);
}

static int compare_rows(const void *a, const void *b)
{
	return strcmp(((const struct matrix_row *)a)->id, ((const struct matrix_row *)b)->id);
}

void matrix_sort(struct matrix *matrix)
{
	if (matrix->row_count > 0)
		qsort(matrix->rows, matrix->row_count, sizeof(*matrix->rows), compare_rows);
	if (matrix->column_count > 0)
		qsort(matrix->columns, matrix->column_count, sizeof(*matrix->columns),
		      compare_columns);
}

unsigned matrix_cell_runs(const struct matrix_cell *cell)
{
	unsigned runs = 0;
	for (size_t i = 0; i < REPORT_OUTCOME_COUNT; i++)
		runs += cell->outcomes[i];
	return runs;
}

enum report_outcome matrix_cell_gravest(const struct matrix_cell *cell)
{
	static const enum report_outcome gravest[] = {
		REPORT_CRASH,  REPORT_TIMEOUT,	   REPORT_FAIL,		  REPORT_BROKEN,
		REPORT_NOTRUN, REPORT_UNSUPPORTED, REPORT_NOT_APPLICABLE, REPORT_PASS};
	size_t i = 0;
	while (i + 1 < ARRAY_SIZE(gravest) && cell->outcomes[gravest[i]] == 0)
		i++;
	return gravest[i];
}

const struct matrix_cell *matrix_cell_at(const struct matrix *matrix, size_t row, size_t column)
{
	const struct matrix_column *in = &matrix->columns[column];
	const size_t place = matrix->rows[row].place;
	return place < in->cell_count && matrix_cell_runs(&in->cells[place]) > 0 ? &in->cells[place]
										 : NULL;
}

void matrix_keep(struct matrix *matrix, bool apis, bool failed)
{
	size_t kept = 0;
	for (size_t row = 0; row < matrix->row_count; row++) {
		bool has_failed = false;
		for (size_t i = 0; i < matrix->column_count; i++) {
			const struct matrix_cell *cell = matrix_cell_at(matrix, row, i);
			for (int k = 0; cell != NULL && k < REPORT_OUTCOME_COUNT; k++)
				has_failed |= cell->outcomes[k] > 0 &&
					      report_outcome_is_bad((enum report_outcome)k);
		}
		if ((!apis || text_starts_with(matrix->rows[row].id, "api.")) &&
		    (!failed || has_failed))
			matrix->rows[kept++] = matrix->rows[row];
	}
	matrix->row_count = kept;
}

void matrix_free(struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->column_count; i++)
		free(matrix->columns[i].cells);
	free(matrix->columns);
	free(matrix->rows);
	free(matrix->reports);
	text_index_free(&matrix->columns_by_name);
	text_index_free(&matrix->rows_by_id);
	text_index_free(&matrix->runs);
	arena_free(&matrix->arena);
	*matrix = (struct matrix){0};
}
