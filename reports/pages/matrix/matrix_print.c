/* SPDX-License-Identifier: MIT */
#include "reports/pages/matrix/matrix.h"

#include "base/members.h"
#include "reports/pages/page.h"
#include "reports/view.h"

enum { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_CSV, FORMAT_JSON, FORMAT_HTML };

const char *const matrix_formats[] = {"text", "markdown", "csv", "json", "html", NULL};

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

static void add_json(const struct matrix *matrix, const struct text_list *unread, struct text *out)
{
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "schema", "gpucert-matrix/1");
	member_int(&json, "reports", (int64_t)matrix->report_count);
	member_int(&json, "repeated", (int64_t)matrix->repeated);
	member_item(&json, "unread", json_new_strings(unread));
	struct members columns = member_array(&json, "columns");
	for (size_t i = 0; i < matrix->column_count; i++) {
		struct members column = member_object(&columns, NULL);
		member_string(&column, "driver", matrix->columns[i].driver);
		member_string(&column, "os", matrix->columns[i].os);
		member_string(&column, "node", matrix->columns[i].node);
		member_int(&column, "runs", matrix->columns[i].runs);
	}
	struct members rows = member_array(&json, "rows");
	for (size_t row = 0; row < matrix->row_count; row++) {
		struct members item = member_object(&rows, NULL);
		member_string(&item, "check", matrix->rows[row].id);
		struct members cells = member_array(&item, "cells");
		for (size_t i = 0; i < matrix->column_count; i++) {
			const struct matrix_cell *in = matrix_cell_at(matrix, row, i);
			if (in == NULL)
				continue;
			struct members cell = member_object(&cells, NULL);
			member_int(&cell, "column", (int64_t)i);
			member_int(&cell, "runs", matrix_cell_runs(in));
			struct members outcomes = member_object(&cell, "outcomes");
			for (size_t k = 0; k < REPORT_OUTCOME_COUNT; k++) {
				if (in->outcomes[k] > 0)
					member_int(&outcomes, report_outcome_names[k],
						   in->outcomes[k]);
			}
		}
	}
	char *printed CLEANUP_FREE = json_print(json.object);
	text_add(out, printed);
}

void matrix_print(const struct matrix *matrix, const char *format,
		  const struct writer_options *options, const struct text_list *unread,
		  struct text *out)
{
	struct doc doc CLEANUP_DOC = {
		.writer = &doc_terminal, .color = options->color, .columns = options->columns};
	switch (text_position(matrix_formats, format)) {
	case FORMAT_CSV:
		add_csv_table(matrix, out);
		return;
	case FORMAT_JSON:
		add_json(matrix, unread, out);
		return;
	case FORMAT_MARKDOWN:
		doc.writer = &doc_markdown;
		break;
	case FORMAT_HTML:
		doc.writer = &doc_html;
		break;
	default:
		break;
	}
	matrix_write(matrix, unread, &doc);
	page_print(&doc, "Matrix", out);
}
