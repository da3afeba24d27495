/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Documents for people, in three forms: text for a terminal, Markdown, and HTML. A document is written from front to
 * back as elements, in the notation of HTML; the writer of a form leaves out what its form lacks: a terminal shows no
 * links and no headings of sections, and only HTML has classes and other attributes. All values are untrusted: each
 * writer escapes them, and cuts texts that are too long.
 *
 *   struct doc doc CLEANUP_DOC = {.writer = &doc_markdown};
 *   doc_section(&doc, "runs", "Runs", 12, "What the runs are about.");
 *   doc_add(&doc, "<div><table aria-label=Runs><thead><tr><th>run<th>result<tbody>");
 *   doc_add(&doc, "<tr class=%s><th>%s<td>%u of %u", tone, name, passed, all);
 *   doc_end(&doc, DOC_SECTION); // and with it the table
 *   ... = text_take(&doc.out);
 */

#include "base/style.h"
#include "base/text.h"
#include "reports/model.h"

/* In templates they have the names of HTML, except those that HTML lacks. */
enum doc_element {
	DOC_SECTION, /* begun by doc_section() */
	DOC_BOX,     /* <div> */
	DOC_ARTICLE,
	DOC_TITLE,   /* <h2>: of the document, begun by doc_title() */
	DOC_HEADING, /* <h3>: within a section */
	DOC_PARAGRAPH, /* <p>: one that begins with <b> or <badge> is a line with a label in a terminal */
	DOC_LINE, /* <line>: the same, cut to the width of a terminal */
	DOC_LIST, /* <ul> */
	DOC_ITEM, /* <li>: as <line> */
	DOC_TABLE,
	DOC_GRID, /* <grid>: a table whose columns a terminal calls A, B, ..., and breaks into blocks */
	DOC_HEAD,   /* <thead> */
	DOC_BODY,   /* <tbody> */
	DOC_ROW,    /* <tr> */
	DOC_HEADER, /* <th> */
	DOC_GROUP,  /* <group>: a <th> of several rows or columns */
	DOC_CELL,   /* <td> */
	DOC_FACTS,  /* <dl> */
	DOC_TERM,   /* <dt> */
	DOC_VALUE,  /* <dd> */
	DOC_DETAILS,
	DOC_SUMMARY,
	DOC_SPAN,
	DOC_STRONG, /* <b> */
	DOC_BADGE,  /* <badge>: a word in a tone, its class */
	DOC_SMALL,
	DOC_LINK, /* <a> */
	DOC_CODE,
	DOC_FIGURE, /* <svg> */
	DOC_SHAPE,  /* <path> */
	DOC_ELEMENT_COUNT
};

/* The names in templates. */
extern const char *const doc_element_names[];

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

/* A cell of a table for a terminal, with the start of its text in doc.cell_text. */
struct doc_cell {
	size_t at;
	enum style tone;
};

/* Empty except for the first three members at the beginning. */
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
	size_t cell_count, row_cells;
};

#define CLEANUP_DOC __attribute__((cleanup(doc_free)))

void doc_free(struct doc *doc);

/*
 * Adds elements and text. The template is a constant: "<p class=%s>%s</p>". A value of an attribute with blanks is in single
 * quotes; a class comes first, and an empty one is none. The innermost elements that cannot hold the next one end first: a cell,
 * a row, an item ends where another one begins. Others end by </name> or doc_end(). Conversions are %s, %.10s, %.*s, %d, %u, %zu,
 * %lld and %%. In an id, and behind the '#' of a href, a string's bytes but letters, digits, '.', '_' and '-' become ~XX.
 */
void doc_add(struct doc *doc, const char *template, ...) PRINTF_LIKE(2, 3);

void doc_begin(struct doc *doc, enum doc_element element, const char *class);

/* Ends the innermost open element of that kind, and those within it. */
void doc_end(struct doc *doc, enum doc_element element);

bool doc_is(const struct doc *doc, enum doc_form form);

/* Is such an element open? */
bool doc_is_in(const struct doc *doc, enum doc_element element);

/* The heading of the document: of HTML it is the page's title. */
void doc_title(struct doc *doc, const char *title);

/* A section with a heading; only in HTML with the number of its items (0: not shown) and a sentence (may be NULL) below. */
void doc_section(struct doc *doc, const char *id, const char *heading, size_t count,
		 const char *lead);

/* A table with headings, NULL-ended, in a <div>. Its <tbody>, with the id `list` unless that is NULL, is open. */
void doc_table(struct doc *doc, const char *class, const char *label, const char *list,
	       const char *const *headings);

/* A <grid> in a <div> that scrolls on narrow pages. Its <thead> is open. */
void doc_grid(struct doc *doc, const char *class, const char *label);

/* A <line> with a label of that class in front; nothing if the rest is "". */
void doc_label(struct doc *doc, const char *class, const char *label, const char *rest);

/* A name and its value in a <dl>; nothing if the value is "". */
void doc_fact(struct doc *doc, const char *name, const char *value);

/* A badge. */
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
