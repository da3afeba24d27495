/* SPDX-License-Identifier: MIT */
/* The matrix as a page. Checks that do not pass come first; rows that pass everywhere are one cell. */
#include "reports/pages/matrix/matrix.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "reports/pages/page.h"
#include "reports/report_link.h"

#include <stdio.h>
#include <string.h>

enum { LISTED_CELLS_MAX = 1000 }; /* of the drill-down */

/* Kinds of cells and rows; those that need most attention come first. */
enum kind { FAILING, FLAKY, UNDECIDED, PASSING, KIND_COUNT };

static const struct {
	const char *name, *meaning;
	enum page_tone tone;
} kinds[KIND_COUNT] = {
	[FAILING] = {"failing", "with some driver or build, no run passes", PAGE_BAD},
	[FLAKY] = {"flaky", "with some driver or build, some runs pass and others fail", PAGE_WARN},
	[UNDECIDED] = {"undecided",
		       "no run fails, but not all pass: the check did not apply, was not "
		       "run or was broken",
		       PAGE_QUIET},
	[PASSING] = {"passing", "every run passes", PAGE_GOOD},
};

static enum kind kind_of(const struct matrix_cell *cell)
{
	const unsigned passes = cell->outcomes[REPORT_PASS];
	unsigned bad = 0;
	for (size_t i = 0; i < REPORT_OUTCOME_COUNT; i++)
		bad += page_tone_of((enum report_outcome)i) == PAGE_BAD ? cell->outcomes[i] : 0;
	if (bad > 0)
		return passes > 0 ? FLAKY : FAILING;
	return passes == matrix_cell_runs(cell) ? PASSING : UNDECIDED;
}

/* The drill-down lists the runs of cells that fail or prove nothing. */
static bool is_open(const struct matrix_cell *cell)
{
	const enum page_tone tone = page_tone_of(matrix_cell_gravest(cell));
	return tone == PAGE_BAD || tone == PAGE_WARN;
}

/* Counts the row's cells of each kind, and returns the number of open ones. */
static size_t count_kinds(const struct matrix *matrix, size_t row, size_t counts[KIND_COUNT])
{
	size_t open = 0;
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_cell *cell = matrix_cell_at(matrix, row, i);
		if (cell == NULL)
			continue;
		counts[kind_of(cell)]++;
		open += is_open(cell) ? 1 : 0;
	}
	return open;
}

/* "2026-11-20 10:15", as a link to the report, or to the check in it. `check` may be NULL. */
static void add_run(const struct matrix_report *report, const char *check, struct text *out)
{
	struct text link CLEANUP_TEXT = {0};
	const char *started = report->started;
	report_add_link(report->path, &link);
	html_open_link(out, NULL, text_string(&link), "c-", check);
	if (started[0] != '\0')
		html_addf(out, "%.10s %.5s</a>", started, strlen(started) > 11 ? started + 11 : "");
	else
		text_add(out, "report</a>");
}

static void add_column_name(const struct matrix_column *column, struct text *out)
{
	struct text name CLEANUP_TEXT = {0};
	matrix_add_column_name(column, &name);
	html_addf(out, "%s", text_string(&name));
}

/* `listed`: the drill-down has the row. */
static void add_cell(const struct matrix *matrix, size_t row, size_t column, bool listed,
		     struct text *out)
{
	const struct matrix_cell *cell = matrix_cell_at(matrix, row, column);
	char link[64] = "";
	char text[64] = "";
	if (cell == NULL) {
		page_heat_cell(out, PAGE_QUIET, 0, 0, NULL, "no report", "");
		return;
	}
	const enum report_outcome gravest = matrix_cell_gravest(cell);
	const unsigned runs = matrix_cell_runs(cell);
	const unsigned count = cell->outcomes[gravest];
	(void)snprintf(link, sizeof(link), "#cell-%zu-%zu", row, column);
	(void)snprintf(text, sizeof(text), count == runs ? "%u" : "%u of %u", count, runs);
	page_heat_cell(out, page_tone_of(gravest), count, runs,
		       listed && is_open(cell) ? link : NULL, report_outcome_names[gravest],
		       runs > 1 ? text : "");
}

static void add_row(const struct matrix *matrix, size_t row, enum kind kind, bool listed,
		    struct text *out)
{
	const size_t columns = matrix->column_count;
	size_t counts[KIND_COUNT] = {0};
	(void)count_kinds(matrix, row, counts);
	html_addf(out, "<tr class=\"%s\" data-facet=\"%s\"><th scope=\"row\" class=\"id\">%s</th>",
		  page_tone_names[kinds[kind].tone], kinds[kind].name, matrix->rows[row].id);
	if (kind == PASSING) {
		html_addf(out, "<td class=\"heat good h5\" colspan=\"%zu\">pass", columns);
		if (counts[PASSING] < columns)
			html_addf(out, " in %zu of %zu, no report of the others", counts[PASSING],
				  columns);
		text_add(out, "</td>");
	}
	for (size_t i = 0; kind != PASSING && i < columns; i++)
		add_cell(matrix, row, i, listed, out);
	text_add(out, "</tr>\n");
}

/* The drill-down lists rows in order while they have at most LISTED_CELLS_MAX open cells together. */
static bool is_listed(const struct matrix *matrix, size_t row, size_t *open)
{
	const size_t more = count_kinds(matrix, row, (size_t[KIND_COUNT]){0});
	*open += more;
	return more > 0 && *open <= LISTED_CELLS_MAX;
}

static void add_heat_map(const struct matrix *matrix, const enum kind *rows, struct text *out)
{
	page_filter(out, "rows", "checks");
	page_grid_begin(out, "matrix", "Heat map");

	/* A driver above its builds; the columns are sorted by it. */
	text_add(out, "<thead><tr><td rowspan=\"2\"></td>");
	for (size_t i = 0, next = 0; i < matrix->column_count; i = next) {
		const char *driver = matrix->columns[i].driver;
		while (next < matrix->column_count &&
		       strcmp(matrix->columns[next].driver, driver) == 0)
			next++;
		html_addf(
			out,
			"<th scope=\"colgroup\" colspan=\"%zu\"><span class=\"name\">%s</span></th>",
			next - i, driver);
	}
	text_add(out, "</tr>\n<tr>");
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_column *column = &matrix->columns[i];
		html_addf(out,
			  "<th scope=\"col\"><a class=\"name\" href=\"#column-%zu\">%s</a>"
			  " <small>%s</small><small>%u run%s</small></th>",
			  i, column->os, strcmp(column->node, "live") != 0 ? column->node : "",
			  column->runs, column->runs == 1 ? "" : "s");
	}
	text_add(out, "</tr></thead>\n<tbody id=\"rows\">\n");

	size_t open = 0;
	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		size_t count = 0;
		for (size_t i = 0; i < matrix->row_count; i++)
			count += rows[i] == kind ? 1 : 0;
		if (count > 0)
			html_addf(out,
				  "<tr data-group><th scope=\"rowgroup\" colspan=\"%zu\">%s "
				  "<span class=\"count\">%zu</span> <span class=\"soft\">%s</span>"
				  "</th></tr>\n",
				  matrix->column_count + 1, kinds[kind].name, count,
				  kinds[kind].meaning);
		for (size_t i = 0; i < matrix->row_count; i++) {
			if (rows[i] == kind)
				add_row(matrix, i, (enum kind)kind, is_listed(matrix, i, &open),
					out);
		}
	}
	text_add(out, "</tbody>\n");
	page_grid_end(out);
}

/* The endings of a cell's runs, and the last run of each. */
static void add_listed_cell(const struct matrix *matrix, size_t row, size_t column,
			    struct text *out)
{
	const struct matrix_cell *cell = matrix_cell_at(matrix, row, column);
	const unsigned runs = matrix_cell_runs(cell);
	html_addf(out, "<li id=\"cell-%zu-%zu\">", row, column);
	add_column_name(&matrix->columns[column], out);
	text_add(out, " ");
	if (kind_of(cell) == FLAKY)
		page_badge(out, PAGE_WARN, "flaky");
	for (size_t i = REPORT_OUTCOME_COUNT; i-- > 0;) {
		if (cell->outcomes[i] == 0)
			continue;
		text_add(out, " ");
		page_outcome(out, (enum report_outcome)i);
		html_addf(out, " in %u of %u run%s, %s", cell->outcomes[i], runs,
			  runs == 1 ? "" : "s", cell->outcomes[i] > 1 ? "last " : "");
		add_run(&matrix->reports[cell->latest[i]], matrix->rows[row].id, out);
	}
	text_add(out, "</li>\n");
}

static void add_listed_row(const struct matrix *matrix, size_t row, struct text *out)
{
	size_t counts[KIND_COUNT] = {0};
	char word[64] = "";
	(void)count_kinds(matrix, row, counts);
	html_addf(out, "<details class=\"listed\"><summary><span class=\"id\">%s</span>",
		  matrix->rows[row].id);
	for (size_t i = 0; i < KIND_COUNT; i++) {
		(void)snprintf(word, sizeof(word), "%s %zu", kinds[i].name, counts[i]);
		text_add(out, " ");
		if (counts[i] > 0)
			page_badge(out, kinds[i].tone, word);
	}
	text_add(out, "</summary><ul>\n");
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_cell *cell = matrix_cell_at(matrix, row, i);
		if (cell != NULL && is_open(cell))
			add_listed_cell(matrix, row, i, out);
	}
	text_add(out, "</ul></details>\n");
}

static void add_listed_rows(const struct matrix *matrix, const enum kind *rows, struct text *out)
{
	size_t open = 0;
	for (size_t kind = 0; kind < PASSING; kind++) {
		for (size_t i = 0; i < matrix->row_count; i++) {
			if (rows[i] == kind && is_listed(matrix, i, &open))
				add_listed_row(matrix, i, out);
		}
	}
	if (open == 0)
		text_add(out, "<p>No check fails or breaks in any run.</p>\n");
	if (open > LISTED_CELLS_MAX)
		html_addf(out,
			  "<p>These are the first of %zu such cells; <code>gpucert matrix "
			  "--format json</code> lists the runs of all.</p>\n",
			  open);
}

static void add_runs(const struct matrix *matrix, struct text *out)
{
	const size_t most =
		matrix->column_count > LISTED_CELLS_MAX / MATRIX_NEWEST_MAX ? 1 : MATRIX_NEWEST_MAX;
	text_add(out, "<ul class=\"runs\">\n");
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_column *column = &matrix->columns[i];
		const size_t count = column->runs < most ? column->runs : most;
		html_addf(out, "<li id=\"column-%zu\">", i);
		add_column_name(column, out);
		for (size_t k = 0; k < count; k++) {
			text_add(out, " ");
			add_run(&matrix->reports[column->newest[k]], NULL, out);
		}
		if (count < column->runs)
			html_addf(out, " and %zu before", column->runs - count);
		text_add(out, "</li>\n");
	}
	text_add(out, "</ul>\n");
}

void matrix_page(const struct matrix *matrix, const struct text_list *unread, struct text *out)
{
	struct page page CLEANUP_PAGE = {0};
	char *title CLEANUP_FREE =
		text_format("%zu drivers and builds, %zu report%s", matrix->column_count,
			    matrix->report_count, matrix->report_count == 1 ? "" : "s");

	/* The kind of a row is that of its cell that needs most attention. */
	enum kind *rows CLEANUP_FREE = memory_allocate(matrix->row_count + 1, sizeof(*rows));
	for (size_t i = 0; i < matrix->row_count; i++) {
		size_t counts[KIND_COUNT] = {0};
		(void)count_kinds(matrix, i, counts);
		while (rows[i] < PASSING && counts[rows[i]] == 0)
			rows[i]++;
	}

	page_section_begin(
		&page, "matrix", "Checks by driver and OS", 0,
		"Each cell shows the worst outcome of its runs: ✓ passes, ✗ fails, crashes "
		"or hangs, ! proves nothing, – does not apply or was not run. \"– 1 of 5\": "
		"one of five runs ended so, and the others ended better; a number "
		"by itself is that many runs, which all ended so.");
	add_heat_map(matrix, rows, &page.body);
	page_section_end(&page);
	page_section_begin(&page, "cells", "Failing and undecided cells", 0,
			   "The runs of each cell that fails or proves nothing.");
	add_listed_rows(matrix, rows, &page.body);
	page_section_end(&page);
	page_section_begin(&page, "runs", "Runs", matrix->report_count,
			   "The last runs with each driver on each build.");
	add_runs(matrix, &page.body);
	page_section_end(&page);
	if (unread->count > 0) {
		page_section_begin(&page, "unread", "Files that could not be read", unread->count,
				   NULL);
		text_add(&page.body, "<ul>\n");
		text_each (line, unread)
			html_addf(&page.body, "<li>%s</li>\n", line);
		text_add(&page.body, "</ul>\n");
		page_section_end(&page);
	}
	page_print(&page, "Matrix", title, out);
}
