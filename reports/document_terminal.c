/* SPDX-License-Identifier: MIT */
/*
 * A document for a terminal: lines of text, some with a label in front, and tables in columns. A line or a table is collected until it ends and
 * escaped as a whole. Lines are cut to the terminal's width, items of lists and paragraphs are not.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "reports/document.h"

#include <string.h>

enum { LABEL_COLUMNS = 11, BODY_COLUMNS_MIN = 40, LEGEND_COLUMNS = 4, CELL_MAX = 300 };

static bool is_block(enum doc_element element)
{
	return element == DOC_PARAGRAPH || element == DOC_LINE || element == DOC_ITEM ||
	       element == DOC_HEADING || element == DOC_TITLE;
}

static bool is_cell(enum doc_element element)
{
	return element == DOC_HEADER || element == DOC_GROUP || element == DOC_CELL;
}

static enum style style_of(const char *class)
{
	if (class == NULL)
		return STYLE_RESET;
	return strstr(class, "good") != NULL   ? STYLE_GREEN
	       : strstr(class, "bad") != NULL  ? STYLE_RED
	       : strstr(class, "warn") != NULL ? STYLE_YELLOW
					       : STYLE_RESET;
}

static void add_styled(struct doc *doc, enum style tone, const char *string, size_t columns)
{
	const size_t size = strlen(string);
	const size_t used = text_columns(string, size);
	text_addf(&doc->out, "%s%s%*s%s", style(doc->color && tone != STYLE_RESET, tone), string,
		  (int)(used < columns ? columns - used : 0), "",
		  style(doc->color && tone != STYLE_RESET, STYLE_RESET));
}

/* Prints what was collected; if `cut`, to the terminal's width. */
static void end_line(struct doc *doc, bool cut)
{
	struct text escaped CLEANUP_TEXT = {0};
	const size_t label = doc->label.size > 0 ? LABEL_COLUMNS : 0;
	const size_t all = doc->columns > 0 ? (size_t)doc->columns : 0;
	const size_t columns = all < label + BODY_COLUMNS_MIN ? BODY_COLUMNS_MIN : all - label;
	size_t size = 0;
	size_t characters = 0;
	if (doc->line.size == 0 && label == 0)
		return;

	text_add_escaped(&escaped, text_string(&doc->line), doc->line.size);
	for (; size < escaped.size; size++) {
		if (cut && all != 0 && ((unsigned char)escaped.data[size] & 0xc0) != 0x80 &&
		    characters++ == columns - 1)
			break;
	}
	if (label != 0)
		add_styled(doc, doc->tone, text_string(&doc->label), label);
	text_append(&doc->out, text_string(&escaped), size);
	text_add(&doc->out, size != escaped.size ? "…\n" : "\n");
	text_reset(&doc->line);
	text_reset(&doc->label);
}

static void begin(struct doc *doc, enum doc_element element, const char *class)
{
	if (is_block(element)) {
		end_line(doc, false); /* of the item that this is in */
		text_add(&doc->label, doc_is_in(doc, DOC_ITEM) && element != DOC_ITEM ? "  " : "");
	} else if (element == DOC_TABLE || element == DOC_GRID) {
		text_add(&doc->out, doc->out.size > 0 ? "\n" : "");
	} else if (is_cell(element)) {
		doc->tone = element == DOC_CELL ? style_of(class) : STYLE_RESET;
	} else if ((element == DOC_STRONG || element == DOC_BADGE) && doc->line.size == 0 &&
		   doc->depth > 0 && is_block(doc->open[doc->depth - 1])) {
		doc->in_label = true;
		doc->tone = element == DOC_STRONG && class == NULL ? STYLE_BOLD : style_of(class);
	}
}

static void add_cell(struct doc *doc)
{
	const size_t fits = text_fit(text_string(&doc->line), doc->line.size, CELL_MAX);
	doc->cells = array_grow(doc->cells, doc->cell_count, sizeof(*doc->cells));
	doc->cells[doc->cell_count++] = (struct doc_cell){doc->cell_text.size, doc->tone};
	text_add_escaped(&doc->cell_text, text_string(&doc->line), fits);
	text_add(&doc->cell_text, fits < doc->line.size ? "..." : "");
	text_append(&doc->cell_text, "", 1);
	text_reset(&doc->line);
}

static const char *cell_at(const struct doc *doc, size_t row, size_t column)
{
	return doc->cell_text.data + doc->cells[row * doc->row_cells + column].at;
}

/* "A", "Z", "AA". */
static void add_letter(size_t column, struct text *out)
{
	if (column >= 26)
		add_letter(column / 26 - 1, out);
	text_addf(out, "%c", 'A' + (int)(column % 26));
}

/* The first column, and those from `first` to before `end`; in a grid letters are their headings. */
static void add_block(struct doc *doc, const size_t *widths, size_t first, size_t end, bool grid)
{
	const size_t rows = doc->cell_count / doc->row_cells;
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = 0; i < end; i = i == 0 ? first : i + 1) {
			struct text letter CLEANUP_TEXT = {0};
			const enum style tone = row == 0 && !grid
							? STYLE_BOLD
							: doc->cells[row * doc->row_cells + i].tone;
			if (row == 0 && grid && i > 0)
				add_letter(i - 1, &letter);
			else if (row > 0 || !grid)
				text_add(&letter, cell_at(doc, row, i));
			add_styled(doc, tone, text_string(&letter), i + 1 < end ? widths[i] : 0);
		}
		text_add(&doc->out, "\n");
	}
}

static void end_table(struct doc *doc, bool grid)
{
	const size_t columns = doc->row_cells;
	const size_t rows = columns > 0 ? doc->cell_count / columns : 0;
	size_t *widths CLEANUP_FREE = memory_allocate(columns + 1, sizeof(*widths));
	for (size_t i = 0; i < rows * columns; i++) {
		const char *cell = cell_at(doc, i / columns, i % columns);
		const bool is_letter = grid && i < columns;
		const size_t width = is_letter ? 3 : text_columns(cell, strlen(cell)) + 2;
		size_t *widest = &widths[i % columns];
		*widest = width > *widest ? width : *widest;
	}

	for (size_t i = 1; grid && i < columns; i++) {
		struct text letter CLEANUP_TEXT = {0};
		add_letter(i - 1, &letter);
		add_styled(doc, STYLE_RESET, text_string(&letter), LEGEND_COLUMNS);
		text_addf(&doc->out, "%s\n", cell_at(doc, 0, i));
	}
	for (size_t first = 1, end = 1; first < columns; first = end) {
		size_t used = widths[0];
		do
			used += widths[end++];
		while (end < columns && (!grid || doc->columns == 0 ||
					 used + widths[end] <= (size_t)doc->columns + 2));
		text_add(&doc->out, grid ? "\n" : "");
		add_block(doc, widths, first, end, grid);
	}
	doc->cell_count = 0;
	doc->row_cells = 0;
	text_reset(&doc->cell_text);
}

static void end(struct doc *doc, enum doc_element element)
{
	if (element == DOC_TITLE)
		doc->tone = STYLE_BOLD;
	if (is_block(element)) {
		end_line(doc, element == DOC_LINE);
	} else if (is_cell(element)) {
		add_cell(doc);
	} else if (element == DOC_ROW) {
		if (doc->row_cells == 0) /* the headings, which are as many as columns */
			doc->row_cells = doc->cell_count;
		while (doc->row_cells > 0 && doc->cell_count % doc->row_cells != 0)
			add_cell(doc);
	} else if (element == DOC_TABLE || element == DOC_GRID) {
		end_table(doc, element == DOC_GRID);
	} else if (element == DOC_STRONG || element == DOC_BADGE) {
		doc->in_label = false;
	}
}

static void add_text(struct doc *doc, const char *string)
{
	if (doc->in_label)
		text_add_escaped(&doc->label, string, strlen(string));
	else if (doc->line.size > 0 || string[0] != ' ')
		text_add(&doc->line, string);
	else
		text_add(&doc->line, string + 1); /* the blank after a label */
}

static void begin_section(struct doc *doc, const char *id, const char *heading, size_t count,
			  const char *lead)
{
	(void)doc, (void)id, (void)heading, (void)count, (void)lead;
}

const struct doc_writer doc_terminal = {DOC_FORM_TERMINAL, begin, end,
					add_text,	   NULL,  begin_section};
