/* SPDX-License-Identifier: MIT */
/* A document in Markdown (CommonMark, and tables as GitHub has them), without HTML and without links. */
#include "reports/document.h"
#include "reports/markdown.h"

static bool is_in(const struct doc *doc, enum doc_element element)
{
	return doc->depth > 0 && doc->open[doc->depth - 1] == element;
}

static const struct {
	const char *begin, *end;
	bool block; /* with a blank line before it */
} marks[DOC_ELEMENT_COUNT] = {
	[DOC_TITLE] = {"## ", "\n", true},   [DOC_HEADING] = {"#### ", "\n", true},
	[DOC_PARAGRAPH] = {"", "\n", true},  [DOC_LINE] = {"", "\n", true},
	[DOC_LIST] = {"", "", true},	     [DOC_TABLE] = {"", "", true},
	[DOC_GRID] = {"", "", true},	     [DOC_FACTS] = {"| | |\n| --- | --- |\n", "", true},
	[DOC_ITEM] = {"- ", "\n", false},    [DOC_ROW] = {"|", "\n", false},
	[DOC_HEADER] = {" ", " |", false},   [DOC_GROUP] = {" ", " |", false},
	[DOC_CELL] = {" ", " |", false},     [DOC_TERM] = {"| ", " ", false},
	[DOC_VALUE] = {"| ", " |\n", false}, [DOC_STRONG] = {"**", "**", false},
	[DOC_BADGE] = {"**", "**", false},
};

static void add_block(struct doc *doc, const char *mark)
{
	if (doc->out.size > 0 && !text_ends_with(text_string(&doc->out), "\n\n"))
		text_add(&doc->out, "\n");
	text_add(&doc->out, mark);
}

static void begin(struct doc *doc, enum doc_element element, const char *class)
{
	const char *mark = marks[element].begin != NULL ? marks[element].begin : "";
	(void)class;
	if (element == DOC_BADGE && doc_is_in(doc, DOC_ROW))
		return;
	if (marks[element].block && is_in(doc, DOC_ITEM))
		text_add(&doc->out, "\n  - ");
	else if (marks[element].block)
		add_block(doc, mark);
	else
		text_add(&doc->out, mark);
	if (element == DOC_ROW)
		doc->cell_count = 0;
	else if (element == DOC_HEAD)
		doc->row_cells = 0;
}

static void end(struct doc *doc, enum doc_element element)
{
	const bool is_cell = element == DOC_HEADER || element == DOC_GROUP || element == DOC_CELL;
	doc->cell_count += is_cell;
	for (; element == DOC_ROW && doc->cell_count < doc->row_cells; doc->cell_count++)
		text_add(&doc->out, " |");
	if (element == DOC_ROW)
		doc->row_cells = doc->cell_count;
	if (marks[element].end != NULL && !(marks[element].block && is_in(doc, DOC_ITEM)) &&
	    !(element == DOC_BADGE && doc_is_in(doc, DOC_ROW)))
		text_add(&doc->out, marks[element].end);
	for (size_t i = 0; element == DOC_HEAD && i <= doc->row_cells; i++)
		text_add(&doc->out, i < doc->row_cells ? i == 0 ? "| --- |" : " --- |" : "\n");
}

static void add_text(struct doc *doc, const char *string)
{
	if (is_in(doc, DOC_CODE))
		markdown_add_code(&doc->out, string);
	else
		markdown_add(&doc->out, string);
}

static void begin_section(struct doc *doc, const char *id, const char *heading, size_t count,
			  const char *lead)
{
	(void)id, (void)count, (void)lead;
	add_block(doc, "### ");
	markdown_add(&doc->out, heading);
	text_add(&doc->out, "\n");
}

const struct doc_writer doc_markdown = {DOC_FORM_MARKDOWN, begin, end,
					add_text,	   NULL,  begin_section};
