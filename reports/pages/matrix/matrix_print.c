/* SPDX-License-Identifier: MIT */
#include "reports/pages/matrix/matrix.h"

#include "base/members.h"
#include "base/memory.h"
#include "base/style.h"
#include "reports/markdown.h"
#include "reports/view.h"

#include <string.h>

enum { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_CSV, FORMAT_JSON, FORMAT_HTML };

const char *const matrix_formats[] = {"text", "markdown", "csv", "json", "html", NULL};

/* "pass", "pass 12", "fail 2 of 12", "n/a": the gravest outcome, and in how many runs of several. */
static void add_cell(const struct matrix_cell *cell, struct text *out)
{
	if (cell == NULL) {
		text_add(out, "-");
		return;
	}
	const enum report_outcome gravest = matrix_cell_gravest(cell);
	const unsigned runs = matrix_cell_runs(cell);
	text_add(out, gravest == REPORT_NOT_APPLICABLE ? "n/a" : report_outcome_names[gravest]);
	if (cell->outcomes[gravest] != runs)
		text_addf(out, " %u of %u", cell->outcomes[gravest], runs);
	else if (runs > 1)
		text_addf(out, " %u", runs);
}

void matrix_add_column_name(const struct matrix_column *column, struct text *out)
{
	text_addf(out, "%s on %s", column->driver, column->os);
	if (strcmp(column->node, "live") != 0)
		text_addf(out, " (%s)", column->node[0] != '\0' ? column->node : "unknown node");
}

/* "A", "Z", "AA". */
static void add_letter(size_t column, struct text *out)
{
	if (column >= 26)
		add_letter(column / 26 - 1, out);
	text_addf(out, "%c", 'A' + (int)(column % 26));
}

static enum style tone_of(const struct matrix_cell *cell)
{
	if (cell == NULL || matrix_cell_gravest(cell) == REPORT_NOT_APPLICABLE)
		return STYLE_RESET;
	if (matrix_cell_bad(cell) > 0)
		return STYLE_RED;
	return cell->outcomes[REPORT_PASS] == matrix_cell_runs(cell) ? STYLE_GREEN : STYLE_YELLOW;
}

static void add_padded(struct text *out, const struct text *content, size_t columns)
{
	const size_t used = text_columns(text_string(content), content->size);
	text_add_all(out, content);
	text_addf(out, "%*s", (int)(used < columns ? columns - used : 0), "");
}

/* A row's cell; in the column after the last, its name. */
static void add_shown(const struct matrix *matrix, size_t row, size_t column, struct text *out)
{
	if (column == matrix->column_count)
		view_add_escaped(out, matrix->rows[row].id);
	else
		add_cell(matrix_cell_at(matrix, row, column), out);
}

/* The columns from `first` to before `end`, each as wide as its content. */
static void add_block(const struct matrix *matrix, const size_t *widths, size_t first, size_t end,
		      bool color, struct text *out)
{
	text_addf(out, "\n%*s", (int)widths[matrix->column_count], "");
	for (size_t i = first; i < end; i++) {
		struct text letter CLEANUP_TEXT = {0};
		add_letter(i, &letter);
		add_padded(out, &letter, i + 1 < end ? widths[i] : 0);
	}
	text_add(out, "\n");
	for (size_t row = 0; row < matrix->row_count; row++) {
		struct text name CLEANUP_TEXT = {0};
		add_shown(matrix, row, matrix->column_count, &name);
		add_padded(out, &name, widths[matrix->column_count]);
		for (size_t i = first; i < end; i++) {
			struct text shown CLEANUP_TEXT = {0};
			add_shown(matrix, row, i, &shown);
			text_add(out, style(color, tone_of(matrix_cell_at(matrix, row, i))));
			add_padded(out, &shown, i + 1 < end ? widths[i] : 0);
			text_add(out, style(color, STYLE_RESET));
		}
		text_add(out, "\n");
	}
}

/* A legend, and as many blocks of columns as the width requires. */
static void add_text(const struct matrix *matrix, const struct writer_options *options,
		     struct text *out)
{
	const size_t columns = matrix->column_count;
	size_t *widths CLEANUP_FREE = memory_allocate(columns + 1, sizeof(*widths));
	for (size_t i = 0; i <= columns; i++) {
		widths[i] = 3;
		for (size_t row = 0; row < matrix->row_count; row++) {
			struct text cell CLEANUP_TEXT = {0};
			add_shown(matrix, row, i, &cell);
			const size_t width = text_columns(text_string(&cell), cell.size) + 2;
			widths[i] = width > widths[i] ? width : widths[i];
		}
	}

	for (size_t i = 0; i < columns; i++) {
		const struct matrix_column *column = &matrix->columns[i];
		struct text letter CLEANUP_TEXT = {0};
		struct text name CLEANUP_TEXT = {0};
		add_letter(i, &letter);
		add_padded(out, &letter, 4);
		matrix_add_column_name(column, &name);
		view_add_escaped(out, text_string(&name));
		text_addf(out, ": %u run%s\n", column->runs, column->runs == 1 ? "" : "s");
	}

	for (size_t first = 0, end = 0; first < columns; first = end) {
		size_t used = widths[columns];
		do
			used += widths[end++];
		while (end < columns && (options->columns == 0 ||
					 used + widths[end] <= (size_t)options->columns + 2));
		add_block(matrix, widths, first, end, options->color, out);
	}
}

static void add_markdown_table(const struct matrix *matrix, struct text *out)
{
	text_add(out, "| check |");
	for (size_t i = 0; i < matrix->column_count; i++) {
		struct text name CLEANUP_TEXT = {0};
		matrix_add_column_name(&matrix->columns[i], &name);
		text_add(out, " ");
		markdown_add(out, text_string(&name));
		text_add(out, " |");
	}
	text_add(out, "\n| --- |");
	for (size_t i = 0; i < matrix->column_count; i++)
		text_add(out, " --- |");
	text_add(out, "\n");
	for (size_t row = 0; row < matrix->row_count; row++) {
		text_add(out, "| ");
		markdown_add(out, matrix->rows[row].id);
		text_add(out, " |");
		for (size_t i = 0; i < matrix->column_count; i++) {
			text_add(out, " ");
			add_cell(matrix_cell_at(matrix, row, i), out);
			text_add(out, " |");
		}
		text_add(out, "\n");
	}
}

/* RFC 4180, with the comma after it. Spreadsheets run what begins with certain signs, wide ones included, as a formula
 * (OWASP, "CSV Injection"): an apostrophe goes in front. Tabs and line ends are escaped. */
static void add_csv(struct text *out, const char *string)
{
	static const char *const signs[] = {"=",      "+",	"-",	  "@",
					    "\uff1d", "\uff0b", "\uff0d", "\uff20"};
	struct text escaped CLEANUP_TEXT = {0};
	bool is_formula = false;
	view_add_escaped(&escaped, string);
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		is_formula = is_formula || text_starts_with(text_string(&escaped), signs[i]);
	text_add(out, is_formula ? "\"'" : "\"");
	for (size_t i = 0; i < escaped.size; i++)
		text_append(out, escaped.data[i] == '"' ? "\"\"" : &escaped.data[i],
			    escaped.data[i] == '"' ? 2 : 1);
	text_add(out, "\",");
}

static void add_csv_table(const struct matrix *matrix, struct text *out)
{
	text_add(out, "check,driver,os,node,runs");
	for (size_t i = 0; i < REPORT_OUTCOME_COUNT; i++)
		text_addf(out, ",%s", report_outcome_names[i]);
	text_add(out, "\r\n");
	for (size_t row = 0; row < matrix->row_count; row++) {
		for (size_t i = 0; i < matrix->column_count; i++) {
			const struct matrix_cell *cell = matrix_cell_at(matrix, row, i);
			if (cell == NULL)
				continue;
			add_csv(out, matrix->rows[row].id);
			add_csv(out, matrix->columns[i].driver);
			add_csv(out, matrix->columns[i].os);
			add_csv(out, matrix->columns[i].node);
			text_addf(out, "%u", matrix_cell_runs(cell));
			for (size_t k = 0; k < REPORT_OUTCOME_COUNT; k++)
				text_addf(out, ",%u", cell->outcomes[k]);
			text_add(out, "\r\n");
		}
	}
}

static cJSON *cell_json(const struct matrix_cell *cell, size_t column)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members outcomes CLEANUP_MEMBERS = members_new();
	for (size_t i = 0; i < REPORT_OUTCOME_COUNT; i++)
		if (cell->outcomes[i] > 0)
			member_int(&outcomes, report_outcome_names[i], cell->outcomes[i]);
	member_int(&json, "column", (int64_t)column);
	member_int(&json, "runs", matrix_cell_runs(cell));
	member_item(&json, "outcomes", members_take(&outcomes));
	return members_take(&json);
}

static void add_json(const struct matrix *matrix, const struct text_list *unread, struct text *out)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members columns CLEANUP_MEMBERS = members_new_array();
	struct members rows CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < matrix->column_count; i++) {
		struct members column CLEANUP_MEMBERS = members_new();
		member_string(&column, "driver", matrix->columns[i].driver);
		member_string(&column, "os", matrix->columns[i].os);
		member_string(&column, "node", matrix->columns[i].node);
		member_int(&column, "runs", matrix->columns[i].runs);
		member_item(&columns, NULL, members_take(&column));
	}
	for (size_t row = 0; row < matrix->row_count; row++) {
		struct members item CLEANUP_MEMBERS = members_new();
		struct members cells CLEANUP_MEMBERS = members_new_array();
		for (size_t i = 0; i < matrix->column_count; i++) {
			const struct matrix_cell *cell = matrix_cell_at(matrix, row, i);
			if (cell != NULL)
				member_item(&cells, NULL, cell_json(cell, i));
		}
		member_string(&item, "check", matrix->rows[row].id);
		member_item(&item, "cells", members_take(&cells));
		member_item(&rows, NULL, members_take(&item));
	}
	member_string(&json, "schema", "gpucert-matrix/1");
	member_int(&json, "reports", (int64_t)matrix->report_count);
	member_int(&json, "repeated", (int64_t)matrix->repeated);
	member_item(&json, "unread", json_new_strings(unread));
	member_item(&json, "columns", members_take(&columns));
	member_item(&json, "rows", members_take(&rows));
	cJSON *document CLEANUP_JSON = members_take(&json);
	char *printed CLEANUP_FREE = json_print(document);
	text_add(out, printed);
}

void matrix_print(const struct matrix *matrix, const char *format,
		  const struct writer_options *options, const struct text_list *unread,
		  struct text *out)
{
	switch (text_position(matrix_formats, format)) {
	case FORMAT_MARKDOWN:
		add_markdown_table(matrix, out);
		return;
	case FORMAT_CSV:
		add_csv_table(matrix, out);
		return;
	case FORMAT_JSON:
		add_json(matrix, unread, out);
		return;
	case FORMAT_HTML:
		matrix_page(matrix, unread, out);
		return;
	default:
		add_text(matrix, options, out);
	}
}
