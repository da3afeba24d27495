/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The shell of a page: one HTML file without a request to anywhere, that opens from disk. Its style and its script are
 * embedded, and its Content-Security-Policy allows these two, by digest, and nothing else; so there are no
 * style="" attributes and no handlers in markup. Everything is there without the script, which filters, switches the
 * theme and opens what a link points to.
 *
 *   page_begin(out, &(struct page){.kind = "Report", .title = "...", .sections = sections});
 *   page_section_begin(out, &sections[0], "what it shows");
 *   ...
 *   page_section_end(out);
 *   page_end(out);
 */

#include "reports/model.h"
#include "reports/page/html.h"

struct page_section {
	const char *id; /* its anchor: "checks" */
	const char *heading;
};

struct page {
	const char *kind;  /* "Report"; above the title */
	const char *title; /* may be hostile */
	/* What the table of contents lists, in the order of the page; ended by {NULL}. */
	const struct page_section *sections;
};

/* Ends with <main> open, which page_end() closes. */
void page_begin(struct text *out, const struct page *page);
void page_end(struct text *out);

/* A <section> named by its heading. `lead`: a sentence below it; NULL for none. */
void page_section_begin(struct text *out, const struct page_section *section, const char *lead);
void page_section_end(struct text *out);

/* How good something is: the colours of a page. Everywhere a word or a mark says the same. */
enum page_tone { PAGE_GOOD, PAGE_BAD, PAGE_WARN, PAGE_QUIET, PAGE_TONE_COUNT };

/* "good", "bad", "warn", "quiet": classes of badges, cells (`td`, `th`) and shapes. */
extern const char *const page_tone_names[PAGE_TONE_COUNT];

/* fail, crash and timeout are bad; broken is a warning, as what proves nothing is; unsupported, not-applicable and notrun are quiet. */
enum page_tone page_tone_of(enum report_outcome outcome);

/* A pill with a mark of its tone and the word. */
void page_badge(struct text *out, enum page_tone tone, const char *word);

/* The mark alone, for dense grids: "✓", "✗", "!", "–". Say the word beside it, class="sr" where it is not to be seen. */
extern const char *const page_tone_marks[PAGE_TONE_COUNT];

/*
 * A heat cell: <td> of a tone, in which `part` of `whole` decides how strong the colour is (five steps, "h1" to "h5"; no colour
 * when whole is 0). `link` (a fragment such as "#c-x"; NULL for none) leads to the drill-down, `word` says the outcome
 * to those who do not see colours, and `text` ("2 of 12") is shown.
 */
void page_heat_cell(struct text *out, enum page_tone tone, size_t part, size_t whole,
		    const char *link, const char *word, const char *text);

/* What items of a filtered list are: a word of their data-facet attribute. */
struct page_facet {
	const char *name; /* "fail" */
	size_t count;	  /* of items; a facet of 0 is not shown */
	enum page_tone tone;
};

/*
 * Search field and facets over the children of the element with the id `list` (a <tbody>, an <ol>); `noun` is what they
 * are: "checks". An item's text is searched, its attribute data-facet (html_attribute) selects. An item with the attribute data-group heads those that follow, and is
 * not counted. '/' leads to the field of the first filter.
 * Shown by the script alone. The facets are ended by {NULL}.
 */
void page_filter(struct text *out, const char *list, const char *noun, size_t count,
		 const struct page_facet *facets);

/* A table that scrolls by itself where the page is narrow: the page never does. `label` names it. */
void page_table_begin(struct text *out, const char *class, const char *label);
void page_table_end(struct text *out);

/* A row of column headings, NULL-ended, in a <thead>. */
void page_table_head(struct text *out, const char *const *headings);

/* "820 ms", "12.4 s", "3 min 20 s". */
void page_add_duration(struct text *out, int64_t ms);
