/* SPDX-License-Identifier: MIT */
#include "reports/pages/matrix/matrix.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "reports/pages/html.h"
#include "reports/report_link.h"

#include <stdio.h>
#include <string.h>

enum { LISTED_CELLS_MAX = 1000 }; /* of the drill-down */

/* Kinds of cells and rows; those that need most attention come first. */
enum kind { FAILING, FLAKY, UNDECIDED, PASSING, KIND_COUNT };

static const struct {
	const char *name, *meaning;
	enum doc_tone tone;
} kinds[KIND_COUNT] = {
	[FAILING] = {"failing", "with some driver or build, no run passes", DOC_BAD},
	[FLAKY] = {"flaky", "with some driver or build, some runs pass and others fail", DOC_WARN},
	[UNDECIDED] = {"undecided",
		       "no run fails, but not all pass: the check did not apply, was not "
		       "run or was broken",
		       DOC_QUIET},
	[PASSING] = {"passing", "every run passes", DOC_GOOD},
};

static enum kind kind_of(const struct matrix_cell *cell)
{
	const unsigned passes = cell->outcomes[REPORT_PASS];
	unsigned bad = 0;
	for (size_t i = 0; i < REPORT_OUTCOME_COUNT; i++)
		bad += doc_tone_of((enum report_outcome)i) == DOC_BAD ? cell->outcomes[i] : 0;
	if (bad > 0)
		return passes > 0 ? FLAKY : FAILING;
	return passes == matrix_cell_runs(cell) ? PASSING : UNDECIDED;
}

/* The drill-down lists the runs of cells that fail or prove nothing. */
static bool is_open(const struct matrix_cell *cell)
{
	const enum doc_tone tone = doc_tone_of(matrix_cell_gravest(cell));
	return tone == DOC_BAD || tone == DOC_WARN;
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
		open += is_open(cell);
	}
	return open;
}

/* "2026-11-20 10:15", as a link to the report, or to the check in it. `check` may be NULL. */
static void add_run(const struct matrix_report *report, const char *check, struct doc *doc)
{
	struct text link CLEANUP_TEXT = {0};
	const char *started = report->started;
	report_add_link(report->path, &link);
	if (check != NULL)
		doc_add(doc, "<a href=%s#c-%s>", text_string(&link), check);
	else
		doc_add(doc, "<a href=%s>", text_string(&link));
	if (started[0] != '\0')
		doc_add(doc, "%.10s %.5s</a>", started, strlen(started) > 11 ? started + 11 : "");
	else
		doc_add(doc, "report</a>");
}

/* "nvidia 552.12 on Windows Server 2022 Datacenter 20348.1547 (recorded)". */
static void add_column_name(const struct matrix_column *column, struct doc *doc)
{
	doc_add(doc, "%s on %s", column->driver, column->os);
	if (!text_equal(column->node, "live"))
		doc_add(doc, " (%s)", column->node[0] != '\0' ? column->node : "unknown node");
}

/* "pass", "pass 12", "fail 2 of 12", "n/a": the gravest outcome, and in how many runs of several. `listed`: the page lists
 * the runs of the row. */
static void add_cell(const struct matrix *matrix, size_t row, size_t column, bool listed,
		     struct doc *doc)
{
	const struct matrix_cell *cell = matrix_cell_at(matrix, row, column);
	const bool is_html = doc_is(doc, DOC_FORM_HTML);
	char link[64] = "";
	char text[64] = "";
	if (cell == NULL) {
		doc_heat(doc, DOC_QUIET, 0, 0, NULL, is_html ? "no report" : "-", "");
		return;
	}
	const enum report_outcome gravest = matrix_cell_gravest(cell);
	const unsigned runs = matrix_cell_runs(cell);
	const unsigned count = cell->outcomes[gravest];
	(void)snprintf(link, sizeof(link), "#cell-%zu-%zu", row, column);
	if (runs > 1)
		(void)snprintf(text, sizeof(text), count == runs ? "%u" : "%u of %u", count, runs);
	doc_heat(doc, doc_tone_of(gravest), count, runs, listed && is_open(cell) ? link : NULL,
		 gravest == REPORT_NOT_APPLICABLE ? "n/a" : report_outcome_names[gravest], text);
}

static void add_row(const struct matrix *matrix, size_t row, enum kind kind, bool listed,
		    struct doc *doc)
{
	const bool is_short = kind == PASSING && doc_is(doc, DOC_FORM_HTML);
	const size_t columns = matrix->column_count;
	size_t counts[KIND_COUNT] = {0};
	(void)count_kinds(matrix, row, counts);
	doc_add(doc, "<tr class=%s data-facet=%s><th class=id>%s", doc_tone_names[kinds[kind].tone],
		kinds[kind].name, matrix->rows[row].id);
	for (size_t i = 0; !is_short && i < columns; i++)
		add_cell(matrix, row, i, listed, doc);
	if (is_short)
		doc_add(doc, "<td class='heat good h5' colspan=%zu>pass", columns);
	if (is_short && counts[PASSING] < columns)
		doc_add(doc, " in %zu of %zu, no report of the others", counts[PASSING], columns);
}

/* The page lists the runs of rows in order while they have at most LISTED_CELLS_MAX open cells together. */
static bool is_listed(const struct matrix *matrix, size_t row, size_t *open)
{
	const size_t more = count_kinds(matrix, row, (size_t[KIND_COUNT]){0});
	*open += more;
	return more > 0 && *open <= LISTED_CELLS_MAX;
}

/* On a page a driver above its builds; the columns are sorted by it. */
static void add_head(const struct matrix *matrix, struct doc *doc)
{
	const bool is_html = doc_is(doc, DOC_FORM_HTML);
	if (is_html)
		doc_add(doc, "<tr><td rowspan=2>");
	else
		doc_add(doc, "<tr><th>check");
	for (size_t i = 0, next = 0; is_html && i < matrix->column_count; i = next) {
		const char *driver = matrix->columns[i].driver;
		while (next < matrix->column_count &&
		       text_equal(matrix->columns[next].driver, driver))
			next++;
		doc_add(doc, "<group colspan=%zu><span class=name>%s</span>", next - i, driver);
	}
	if (is_html)
		doc_add(doc, "<tr>");
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_column *column = &matrix->columns[i];
		doc_add(doc, "<th>");
		if (is_html)
			doc_add(doc, "<a class=name href=#column-%zu>%s</a> <small>%s</small>", i,
				column->os, !text_equal(column->node, "live") ? column->node : "");
		else
			add_column_name(column, doc);
		doc_add(doc, "%s<small>%u run%s</small>", is_html ? "" : ": ", column->runs,
			column->runs == 1 ? "" : "s");
	}
}

static void add_grid(const struct matrix *matrix, const enum kind *rows, struct doc *doc)
{
	size_t open = 0;
	html_filter(doc, "rows", "checks");
	doc_grid(doc, "matrix", "Heat map");
	add_head(matrix, doc);
	doc_add(doc, "<tbody id=rows>");
	for (size_t i = 0; !doc_is(doc, DOC_FORM_HTML) && i < matrix->row_count; i++)
		add_row(matrix, i, rows[i], false, doc);
	for (size_t kind = 0; doc_is(doc, DOC_FORM_HTML) && kind < KIND_COUNT; kind++) {
		size_t count = 0;
		for (size_t i = 0; i < matrix->row_count; i++)
			count += rows[i] == kind;
		if (count > 0)
			doc_add(doc,
				"<tr data-group><group colspan=%zu>%s <span class=count>%zu</span> "
				"<span class=soft>%s</span>",
				matrix->column_count + 1, kinds[kind].name, count,
				kinds[kind].meaning);
		for (size_t i = 0; i < matrix->row_count; i++) {
			if (rows[i] == kind)
				add_row(matrix, i, (enum kind)kind, is_listed(matrix, i, &open),
					doc);
		}
	}
	doc_end(doc, DOC_BOX);
}

/* The endings of a cell's runs, and the last run of each. */
static void add_listed_cell(const struct matrix *matrix, size_t row, size_t column, struct doc *doc)
{
	const struct matrix_cell *cell = matrix_cell_at(matrix, row, column);
	const unsigned runs = matrix_cell_runs(cell);
	doc_add(doc, "<li id=cell-%zu-%zu>", row, column);
	add_column_name(&matrix->columns[column], doc);
	doc_add(doc, " ");
	if (kind_of(cell) == FLAKY)
		doc_add(doc, "<badge class=warn>flaky</badge>");
	for (size_t i = REPORT_OUTCOME_COUNT; i-- > 0;) {
		if (cell->outcomes[i] == 0)
			continue;
		doc_add(doc, " ");
		doc_outcome(doc, (enum report_outcome)i);
		doc_add(doc, " in %u of %u run%s, %s", cell->outcomes[i], runs,
			runs == 1 ? "" : "s", cell->outcomes[i] > 1 ? "last " : "");
		add_run(&matrix->reports[cell->latest[i]], matrix->rows[row].id, doc);
	}
}

static void add_listed_row(const struct matrix *matrix, size_t row, struct doc *doc)
{
	size_t counts[KIND_COUNT] = {0};
	(void)count_kinds(matrix, row, counts);
	doc_add(doc, "<details class=listed><summary><span class=id>%s</span>",
		matrix->rows[row].id);
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (counts[i] > 0)
			doc_add(doc, " <badge class=%s>%s %zu</badge>",
				doc_tone_names[kinds[i].tone], kinds[i].name, counts[i]);
	}
	doc_add(doc, "</summary><ul>");
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_cell *cell = matrix_cell_at(matrix, row, i);
		if (cell != NULL && is_open(cell))
			add_listed_cell(matrix, row, i, doc);
	}
	doc_end(doc, DOC_DETAILS);
}

static void add_runs(const struct matrix *matrix, struct doc *doc)
{
	const size_t most =
		matrix->column_count > LISTED_CELLS_MAX / MATRIX_NEWEST_MAX ? 1 : MATRIX_NEWEST_MAX;
	doc_add(doc, "<ul class=runs>");
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_column *column = &matrix->columns[i];
		const size_t count = column->runs < most ? column->runs : most;
		doc_add(doc, "<li id=column-%zu>", i);
		add_column_name(column, doc);
		for (size_t k = 0; k < count; k++) {
			doc_add(doc, " ");
			add_run(&matrix->reports[column->newest[k]], NULL, doc);
		}
		if (count < column->runs)
			doc_add(doc, " and %zu before", column->runs - count);
	}
	doc_end(doc, DOC_LIST);
}

void matrix_write(const struct matrix *matrix, const struct text_list *unread, struct doc *doc)
{
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
	if (!doc_is(doc, DOC_FORM_HTML)) {
		add_grid(matrix, rows, doc);
		return;
	}

	doc_title(doc, title);
	doc_section(doc, "matrix", "Checks by driver and OS", 0,
		    "Each cell shows the worst outcome of its runs: ✓ passes, ✗ fails, crashes "
		    "or hangs, ! proves nothing, – does not apply or was not run. “– 1 of 5”: "
		    "one of five runs ended so, and the others ended better; a number "
		    "by itself is that many runs, which all ended so.");
	add_grid(matrix, rows, doc);
	doc_end(doc, DOC_SECTION);
	doc_section(doc, "cells", "Failing and undecided cells", 0,
		    "The runs of each cell that fails or proves nothing.");
	size_t open = 0;
	for (size_t kind = 0; kind < PASSING; kind++) {
		for (size_t i = 0; i < matrix->row_count; i++) {
			if (rows[i] == kind && is_listed(matrix, i, &open))
				add_listed_row(matrix, i, doc);
		}
	}
	if (open == 0)
		doc_add(doc, "<p>No check fails or breaks in any run.</p>");
	if (open > LISTED_CELLS_MAX)
		doc_add(doc,
			"<p>These are the first of %zu such cells; <code>gpucert matrix --format "
			"json</code> lists the runs of all.</p>",
			open);
	doc_end(doc, DOC_SECTION);
	doc_section(doc, "runs", "Runs", matrix->report_count,
		    "The last runs with each driver on each build.");
	add_runs(matrix, doc);
	doc_end(doc, DOC_SECTION);
	if (unread->count == 0)
		return;
	doc_section(doc, "unread", "Files that could not be read", unread->count, NULL);
	doc_add(doc, "<ul>");
	text_each (line, unread)
		doc_add(doc, "<li>%s", line);
	doc_end(doc, DOC_SECTION);
}
