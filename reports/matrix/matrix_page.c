/* SPDX-License-Identifier: MIT */
/* The matrix as a page. What people look for is what does not pass: rows that pass everywhere give way in large ones. */
#include "reports/matrix/matrix.h"

#include "base/cleanup.h"
#include "reports/page/page.h"
#include "reports/report_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WHOLE_CELLS_MAX = 2000, /* more: a row that passes everywhere is one cell */
	TOLD_CELLS_MAX = 1000,	/* of the drill-down */
};

/* How a row is found by the filter; ordered by how much it asks for attention. */
enum row_kind { ROW_FAILING, ROW_FLAKY, ROW_UNDECIDED, ROW_PASSING, ROW_KIND_COUNT };

static const struct {
	const char *name;
	enum page_tone tone;
} row_kinds[ROW_KIND_COUNT] = {
	[ROW_FAILING] = {"failing", PAGE_BAD},
	[ROW_FLAKY] = {"flaky", PAGE_WARN},
	[ROW_UNDECIDED] = {"undecided", PAGE_QUIET},
	[ROW_PASSING] = {"passing", PAGE_GOOD},
};

static enum row_kind kind_of(const struct matrix_cell *cell)
{
	const unsigned passes = cell->outcomes[REPORT_PASS];
	unsigned bad = 0;
	for (size_t i = 0; i < REPORT_OUTCOME_COUNT; i++)
		bad += page_tone_of((enum report_outcome)i) == PAGE_BAD ? cell->outcomes[i] : 0;
	if (bad > 0)
		return passes > 0 ? ROW_FLAKY : ROW_FAILING;
	return passes == matrix_cell_runs(cell) ? ROW_PASSING : ROW_UNDECIDED;
}

/* The rows that are shown. */
struct rows {
	const struct matrix *matrix;
	size_t *places;
	enum row_kind *kinds;
	size_t count;
	size_t told; /* how many of them the drill-down has */
	size_t of_kind[ROW_KIND_COUNT];
	bool merged; /* each that passes is one cell */
};

static void rows_free(struct rows *rows)
{
	free(rows->places);
	free(rows->kinds);
}

/* The kind of the cell that asks for most attention. Counts those that do not pass. */
static enum row_kind kind_of_row(const struct matrix *matrix, size_t row, size_t *count)
{
	enum row_kind kind = ROW_PASSING;
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_cell *cell = matrix_cell_at(matrix, row, i);
		if (cell == NULL || kind_of(cell) == ROW_PASSING)
			continue;
		kind = kind_of(cell) < kind ? kind_of(cell) : kind;
		(*count)++;
	}
	return kind;
}

/* False: out of memory. */
static bool choose_rows(struct rows *out)
{
	const struct matrix *matrix = out->matrix;
	size_t cells = 0;
	out->places = calloc(matrix->row_count + 1, sizeof(*out->places));
	out->kinds = calloc(matrix->row_count + 1, sizeof(*out->kinds));
	if (out->places == NULL || out->kinds == NULL)
		return false;
	for (size_t row = 0; row < matrix->row_count; row++) {
		const enum row_kind kind = kind_of_row(matrix, row, &cells);
		out->places[out->count] = row;
		out->kinds[out->count++] = kind;
		out->told = cells <= TOLD_CELLS_MAX ? out->count : out->told;
		out->of_kind[kind]++;
	}
	out->merged = out->count * matrix->column_count > WHOLE_CELLS_MAX;
	return true;
}

static void add_column_name(const struct matrix_column *column, struct text *out)
{
	struct text name CLEANUP_TEXT = {0};
	matrix_add_column_name(column, &name);
	html_text(out, text_string(&name));
	out->failed = out->failed || name.failed;
}

/* "2026-11-20 10:15", as a link to the report, or to the check in it. `check` may be NULL. */
static void add_run(const struct matrix_report *report, const char *check, struct text *out)
{
	struct text link CLEANUP_TEXT = {0};
	report_add_link(report->path, &link);
	if (check != NULL)
		html_add_id(&link, "#c-", check);
	html_open(out, "a", "href", text_string(&link), NULL);
	if (report->started[0] != '\0')
		html_textf(out, "%.10s %.5s", report->started,
			   strlen(report->started) > 11 ? report->started + 11 : "");
	else
		text_add(out, "report");
	text_add(out, "</a>");
	out->failed = out->failed || link.failed;
}

/* A driver above its builds; columns are sorted by it. */
static void add_head(const struct matrix *matrix, struct text *out)
{
	text_add(out, "<thead><tr><td rowspan=\"2\"></td>");
	for (size_t i = 0; i < matrix->column_count;) {
		size_t next = i + 1;
		while (next < matrix->column_count &&
		       strcmp(matrix->columns[next].driver, matrix->columns[i].driver) == 0)
			next++;
		text_addf(out, "<th scope=\"colgroup\" colspan=\"%zu\">", next - i);
		html_element(out, "span", "name", matrix->columns[i].driver);
		text_add(out, "</th>");
		i = next;
	}
	text_add(out, "</tr>\n<tr>");
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_column *column = &matrix->columns[i];
		text_addf(out, "<th scope=\"col\"><a class=\"name\" href=\"#column-%zu\">", i);
		html_text(out, column->os);
		text_add(out, "</a> <small>");
		html_textf(out, "%s%s%u run%s",
			   strcmp(column->node, "live") != 0 ? column->node : "",
			   strcmp(column->node, "live") != 0 ? ", " : "", column->runs,
			   column->runs == 1 ? "" : "s");
		text_add(out, "</small></th>");
	}
	text_add(out, "</tr></thead>\n");
}

/* `linked`: the drill-down has the cell. */
static void add_cell(const struct matrix *matrix, size_t row, size_t column, bool linked,
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
		       linked && kind_of(cell) != ROW_PASSING ? link : NULL,
		       report_outcome_names[gravest], runs > 1 ? text : "");
}

static void add_row(const struct rows *rows, size_t index, struct text *out)
{
	const size_t columns = rows->matrix->column_count;
	const size_t row = rows->places[index];
	html_open(out, "tr", "data-facet", row_kinds[rows->kinds[index]].name, NULL);
	text_add(out, "<th scope=\"row\" class=\"id\">");
	html_text(out, rows->matrix->rows[row]);
	text_add(out, "</th>");
	if (rows->merged && rows->kinds[index] == ROW_PASSING)
		text_addf(out, "<td class=\"heat good h5\" colspan=\"%zu\">✓ pass</td>", columns);
	for (size_t i = 0; i < columns && !(rows->merged && rows->kinds[index] == ROW_PASSING); i++)
		add_cell(rows->matrix, row, i, index < rows->told, out);
	text_add(out, "</tr>\n");
}

static void add_heat_map(const struct rows *rows, struct text *out)
{
	struct page_facet facets[ROW_KIND_COUNT + 1] = {{.name = NULL}};
	for (size_t i = 0; i < ROW_KIND_COUNT; i++)
		facets[i] =
			(struct page_facet){row_kinds[i].name, rows->of_kind[i], row_kinds[i].tone};
	page_filter(out, "rows", "checks", rows->count, facets);
	page_table_begin(out, "grid matrix", "Heat map");
	add_head(rows->matrix, out);
	text_add(out, "<tbody id=\"rows\">\n");
	for (size_t i = 0; i < rows->count; i++)
		add_row(rows, i, out);
	text_add(out, "</tbody>\n");
	page_table_end(out);
}

/* How the runs behind a cell ended, and the last run of each ending. */
static void add_told_cell(const struct matrix *matrix, size_t row, size_t column, struct text *out)
{
	const struct matrix_cell *cell = matrix_cell_at(matrix, row, column);
	const unsigned runs = matrix_cell_runs(cell);
	text_addf(out, "<li id=\"cell-%zu-%zu\"><b>", row, column);
	add_column_name(&matrix->columns[column], out);
	text_add(out, "</b> ");
	if (kind_of(cell) == ROW_FLAKY)
		page_badge(out, PAGE_WARN, "flaky");
	for (size_t i = REPORT_OUTCOME_COUNT; i-- > 0;) {
		if (cell->outcomes[i] == 0)
			continue;
		text_add(out, " ");
		page_badge(out, page_tone_of((enum report_outcome)i), report_outcome_names[i]);
		text_addf(out, " in %u of %u run%s, %s", cell->outcomes[i], runs,
			  runs == 1 ? "" : "s", cell->outcomes[i] > 1 ? "last " : "");
		add_run(&matrix->reports[cell->latest[i]], matrix->rows[row], out);
	}
	text_add(out, "</li>\n");
}

/* The check, and a badge for each kind of cell but passing ones: "✗ failing 2 of 12". */
static void add_told_summary(const struct matrix *matrix, size_t row, const size_t *of_kind,
			     struct text *out)
{
	size_t cells = 0;
	for (size_t i = 0; i < ROW_KIND_COUNT; i++)
		cells += of_kind[i];
	html_element(out, "span", "id", matrix->rows[row]);
	for (size_t i = 0; i < ROW_PASSING; i++) {
		char word[64] = "";
		(void)snprintf(word, sizeof(word), "%s %zu of %zu", row_kinds[i].name, of_kind[i],
			       cells);
		text_add(out, " ");
		if (of_kind[i] > 0)
			page_badge(out, row_kinds[i].tone, word);
	}
}

static void add_told_row(const struct matrix *matrix, size_t row, struct text *out)
{
	size_t of_kind[ROW_KIND_COUNT] = {0};
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_cell *cell = matrix_cell_at(matrix, row, i);
		if (cell != NULL)
			of_kind[kind_of(cell)]++;
	}
	const size_t passing = of_kind[ROW_PASSING];
	text_add(out, "<details class=\"told\"><summary>");
	add_told_summary(matrix, row, of_kind, out);
	text_add(out, "</summary><ul>\n");
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_cell *cell = matrix_cell_at(matrix, row, i);
		if (cell != NULL && kind_of(cell) != ROW_PASSING)
			add_told_cell(matrix, row, i, out);
	}
	if (passing > 0)
		text_addf(out, "<li>It passes in every run of %zu other%s.</li>\n", passing,
			  passing == 1 ? "" : "s");
	text_add(out, "</ul></details>\n");
}

static void add_told_rows(const struct rows *rows, struct text *out)
{
	size_t left = 0;
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->kinds[i] == ROW_PASSING)
			continue;
		if (i < rows->told)
			add_told_row(rows->matrix, rows->places[i], out);
		else
			left++;
	}
	if (rows->of_kind[ROW_PASSING] == rows->count)
		text_add(out, "<p>Every check passes in every run.</p>\n");
	if (left > 0)
		text_addf(
			out,
			"<p>%zu more checks do not pass everywhere; <code>gpucert matrix --format "
			"json</code> tells their runs.</p>\n",
			left);
}

static void add_runs(const struct matrix *matrix, struct text *out)
{
	const size_t each =
		matrix->column_count > TOLD_CELLS_MAX / MATRIX_NEWEST_MAX ? 1 : MATRIX_NEWEST_MAX;
	for (size_t i = 0; i < matrix->column_count; i++) {
		const struct matrix_column *column = &matrix->columns[i];
		const size_t count = column->runs < each ? column->runs : each;
		text_addf(out, "<details class=\"told\" id=\"column-%zu\"><summary>", i);
		add_column_name(column, out);
		text_addf(out, " <span class=\"soft\">%u run%s</span></summary><ul>\n",
			  column->runs, column->runs == 1 ? "" : "s");
		for (size_t k = 0; k < count; k++) {
			text_add(out, "<li>");
			add_run(&matrix->reports[column->newest[k]], NULL, out);
			text_add(out, "</li>\n");
		}
		if (count < column->runs)
			text_addf(out, "<li>and %zu before</li>\n", column->runs - count);
		text_add(out, "</ul></details>\n");
	}
}

static void add_sections(const struct rows *rows, const struct page_section *sections,
			 const struct text_list *unread, struct text *out)
{
	page_section_begin(
		out, &sections[0],
		"✓ passes, ✗ fails, crashes or hangs, ! proves nothing, – does not apply or was "
		"not run; behind it in how many of several runs.");
	add_heat_map(rows, out);
	page_section_end(out);
	page_section_begin(out, &sections[1], "The runs behind each cell that is not all pass.");
	add_told_rows(rows, out);
	page_section_end(out);
	page_section_begin(out, &sections[2], "The last runs with each driver on each build.");
	add_runs(rows->matrix, out);
	page_section_end(out);
	if (sections[3].id == NULL)
		return;
	page_section_begin(out, &sections[3], NULL);
	text_add(out, "<ul>\n");
	text_each (line, unread)
		html_element(out, "li", NULL, line);
	text_add(out, "</ul>\n");
	page_section_end(out);
}

void matrix_page(const struct matrix *matrix, const struct text_list *unread, struct text *out)
{
	const struct page_section sections[] = {
		{"matrix", "Checks by driver and OS"},
		{"cells", "What does not pass"},
		{"runs", "Runs"},
		{unread->count > 0 ? "unread" : NULL, "Files that could not be read"},
		{NULL, NULL}};
	struct rows rows CLEANUP(rows_free) = {.matrix = matrix};
	struct text title CLEANUP_TEXT = {0};
	if (!choose_rows(&rows)) {
		out->failed = true;
		return;
	}
	text_addf(&title, "%zu checks with %zu drivers and builds, from %zu reports", rows.count,
		  matrix->column_count, matrix->report_count);
	page_begin(out, &(struct page){.kind = "Matrix",
				       .title = text_string(&title),
				       .sections = sections});
	add_sections(&rows, sections, unread, out);
	page_end(out);
	out->failed = out->failed || title.failed;
}
