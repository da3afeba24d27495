/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Documents for people, in three forms: text for a terminal, Markdown, and HTML. A document is written from front to
 * back: elements begin, hold text and other elements, and end. A writer prints what its form has and leaves out the
 * rest: a terminal shows no links and no headings of sections, and only HTML has classes and attributes. All text is
 * untrusted: each writer escapes it, and cuts it where it is too long.
 *
 *   struct doc doc CLEANUP_DOC = {.writer = &doc_markdown};
 *   doc_section(&doc, "runs", "Runs", 12, "What the runs are about.");
 *   doc_table(&doc, DOC_TABLE, "stacked", "Runs", NULL, (const char *const[]){"run", "result", NULL});
 *   doc_begin(&doc, DOC_ROW, NULL);
 *   doc_add(&doc, DOC_HEADER, NULL, "%s", name);
 *   doc_add(&doc, DOC_CELL, NULL, "%s", result);
 *   doc_end(&doc, DOC_SECTION); // and with it the row and the table
 *   ... = text_take(&doc.out);
 */

#include "base/style.h"
#include "base/text.h"
#include "reports/model.h"

enum doc_element {
	DOC_SECTION, /* begun by doc_section() */
	DOC_BOX,
	DOC_ARTICLE,
	DOC_TITLE,   /* of the document */
	DOC_HEADING, /* within a section */
	DOC_PARAGRAPH, /* one that begins with DOC_STRONG or DOC_BADGE is a line with a label in a terminal */
	DOC_LINE, /* the same, cut to the width of a terminal */
	DOC_LIST,
	DOC_ITEM, /* as DOC_LINE */
	DOC_TABLE,
	DOC_GRID, /* a wide table: scrolls in HTML; in a terminal columns are called A, B, ..., and break into blocks */
	DOC_HEAD,
	DOC_BODY,
	DOC_ROW,
	DOC_HEADER, /* the name of a row or a column */
	DOC_GROUP,  /* the name of several */
	DOC_CELL,
	DOC_FACTS, /* names with values, see doc_fact() */
	DOC_TERM,
	DOC_VALUE,
	DOC_DETAILS, /* folded away below its DOC_SUMMARY */
	DOC_SUMMARY,
	DOC_SPAN,
	DOC_STRONG,
	DOC_BADGE,
	DOC_SMALL,
	DOC_LINK,
	DOC_CODE,
	DOC_FIGURE, /* SVG */
	DOC_SHAPE,
	DOC_ELEMENT_COUNT
};

/* A colour; a word and, in HTML, a mark ("✓", "✗", "!", "–") say the same. */
enum doc_tone { DOC_GOOD, DOC_BAD, DOC_WARN, DOC_QUIET, DOC_TONE_COUNT };

/* "good", "bad", "warn", "quiet": classes of any element. */
extern const char *const doc_tone_names[DOC_TONE_COUNT];

/* fail, crash and timeout are bad; broken, which proves nothing, is a warning; unsupported, not-applicable and notrun are quiet. */
enum doc_tone doc_tone_of(enum report_outcome outcome);

enum doc_form { DOC_FORM_TERMINAL, DOC_FORM_MARKDOWN, DOC_FORM_HTML };

struct doc;

struct doc_writer {
	enum doc_form form;
	void (*begin)(struct doc *doc, enum doc_element element, const char *class);
	void (*end)(struct doc *doc, enum doc_element element);
	void (*text)(struct doc *doc, const char *string);
	void (*attribute)(struct doc *doc, const char *name, const char *value);
	void (*section)(struct doc *doc, const char *id, const char *heading, size_t count,
			const char *lead);
};

extern const struct doc_writer doc_terminal, doc_markdown;
extern const struct doc_writer doc_html; /* reports/pages/page.h */

enum { DOC_DEPTH_MAX = 32 };

/* A cell of a table for a terminal; its text begins there in doc.cell_text. */
struct doc_cell {
	size_t at;
	enum style tone;
};

/* Empty but for the first three when it begins. */
struct doc {
	const struct doc_writer *writer;
	bool color;  /* of a terminal */
	int columns; /* of a terminal; 0: nothing is cut */
	struct text out;
	struct text title; /* see doc_title() */
	enum doc_element open[DOC_DEPTH_MAX];
	size_t depth;

	/* The writers' own. */
	struct text label, line, contents, cell_text;
	enum style tone;
	bool in_label, in_tag;
	struct doc_cell *cells;
	size_t cell_count, row_begin, row_cells;
};

#define CLEANUP_DOC __attribute__((cleanup(doc_free)))

void doc_free(struct doc *doc);

/* The innermost elements that cannot hold it end first: a cell, a row, an item ends where the next one begins. `class`
 * may be NULL. */
void doc_begin(struct doc *doc, enum doc_element element, const char *class);

/* Ends the innermost open element of that kind, and those within it. */
void doc_end(struct doc *doc, enum doc_element element);
void doc_text(struct doc *doc, const char *format, ...) PRINTF_LIKE(2, 3);

/* A whole element with only text. */
void doc_add(struct doc *doc, enum doc_element element, const char *class, const char *format, ...)
	PRINTF_LIKE(4, 5);

/* Of the element that just began. */
void doc_attribute(struct doc *doc, const char *name, const char *format, ...) PRINTF_LIKE(3, 4);

/* The attribute "id", or "href" of an encoded address ("" is the same document) and an id in it, which may be NULL.
 * `prefix` and any string make an id: bytes but letters, digits, '.', '_' and '-' become ~XX. */
void doc_id(struct doc *doc, const char *prefix, const char *id);
void doc_href(struct doc *doc, const char *address, const char *prefix, const char *id);

bool doc_is(const struct doc *doc, enum doc_form form);

/* The heading of the document: of HTML it is the page's title. */
void doc_title(struct doc *doc, const char *title);

/* A section with a heading; only in HTML with the number of its items (0: not shown) and a sentence (may be NULL) below. */
void doc_section(struct doc *doc, const char *id, const char *heading, size_t count,
		 const char *lead);

/* A DOC_TABLE or DOC_GRID in a DOC_BOX that `label` names, with a row of headings, NULL-ended. Its DOC_BODY, with the id `list`
 * unless that is NULL, is open; with `headings` NULL its DOC_HEAD is. */
void doc_table(struct doc *doc, enum doc_element element, const char *class, const char *label,
	       const char *list, const char *const *headings);

/* A DOC_PARAGRAPH or DOC_LINE with a label in front; nothing if the rest is "". `class`: of the label. */
void doc_label(struct doc *doc, enum doc_element element, const char *class, const char *label,
	       const char *format, ...) PRINTF_LIKE(5, 6);

/* A name and its value; nothing if the value is "". */
void doc_fact(struct doc *doc, const char *name, const char *format, ...) PRINTF_LIKE(3, 4);

void doc_badge(struct doc *doc, enum doc_tone tone, const char *word);
void doc_outcome(struct doc *doc, enum report_outcome outcome);

/*
 * A cell of a tone, in which `part` of `whole` decides how strong the colour is (five steps, "h1" to "h5"; no colour when
 * whole is 0). `link` (a fragment such as "#c-x"; NULL for none) leads to more. In HTML `word` is for those who do not see
 * colours and marks, and `text` ("2 of 12") is shown; elsewhere both are.
 */
void doc_heat(struct doc *doc, enum doc_tone tone, size_t part, size_t whole, const char *link,
	      const char *word, const char *text);

/* "820 ms", "12.4 s", "3 min 20 s". */
void doc_duration(struct doc *doc, int64_t ms);
