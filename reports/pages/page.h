/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The frame of a page: one HTML file that opens from disk and requests nothing. Its style and script are embedded, and
 * its Content-Security-Policy allows only these two, by digest; so there are no style="" attributes and no handlers in
 * markup. The page is complete without the script, which filters, switches the theme and opens the targets of links.
 *
 *   struct page page CLEANUP_PAGE = {0};
 *   page_section_begin(&page, "runs", "Runs", 12, "what it shows");
 *   html_addf(&page.body, ...);
 *   page_section_end(&page);
 *   page_print(&page, "Matrix", title, out);
 */

#include "reports/model.h"
#include "reports/pages/html.h"

/* A page as it grows. Empty when zeroed. */
struct page {
	struct text contents; /* its table, a line for each section */
	struct text body;
};

#define CLEANUP_PAGE __attribute__((cleanup(page_free)))

/* A <section> with an id, named by its heading. `count`: of its items, shown with the heading; 0: not shown.
 * `lead`: a sentence below it; NULL for none. */
void page_section_begin(struct page *page, const char *id, const char *heading, size_t count,
			const char *lead);
void page_section_end(struct page *page);

/* Adds the whole page. `kind` ("Report") is shown above the title. */
void page_print(const struct page *page, const char *kind, const char *title, struct text *out);
void page_free(struct page *page);

/* The colours of a page. A word and a mark ("✓", "✗", "!", "–") say the same as the colour. */
enum page_tone { PAGE_GOOD, PAGE_BAD, PAGE_WARN, PAGE_QUIET, PAGE_TONE_COUNT };

/* "good", "bad", "warn", "quiet": classes of badges, cells (`td`, `th`) and shapes. */
extern const char *const page_tone_names[PAGE_TONE_COUNT];

/* fail, crash and timeout are bad; broken, which proves nothing, is a warning; unsupported, not-applicable and notrun are quiet. */
enum page_tone page_tone_of(enum report_outcome outcome);

/* A pill with the mark of its tone and the word, or the outcome. */
void page_badge(struct text *out, enum page_tone tone, const char *word);
void page_outcome(struct text *out, enum report_outcome outcome);

/*
 * A heat cell: <td> of a tone, in which `part` of `whole` decides how strong the colour is (five steps, "h1" to "h5"; no colour
 * when whole is 0). `link` (a fragment such as "#c-x"; NULL for none) leads to the drill-down, `word` says the outcome
 * to those who do not see colours and marks, and `text` ("2 of 12") is shown.
 */
void page_heat_cell(struct text *out, enum page_tone tone, size_t part, size_t whole,
		    const char *link, const char *word, const char *text);

/*
 * A filter of the children of the element with the id `list` (a <tbody>, an <ol>), which the script makes; `noun` is what they
 * are: "checks". An item's text is searched, its attribute data-facet ("fail"), whose tone is its class, selects. An item with the attribute
 * data-group heads those that follow, and is not counted. '/' leads to the field of the first filter.
 */
void page_filter(struct text *out, const char *list, const char *noun);

/* A table that `label` names, with a row of column headings, NULL-ended. Its <tbody>, with the id `list` unless that is NULL,
 * is open until page_table_end(). On narrow screens rows break into lines. */
void page_table_begin(struct text *out, const char *class, const char *label, const char *list,
		      const char *const *headings);
void page_table_end(struct text *out);

/* A wide table scrolls by itself on narrow pages. Its <table> is open, for the caller to fill. */
void page_grid_begin(struct text *out, const char *class, const char *label);
void page_grid_end(struct text *out);

/* "and 3 more, in report.json", after a list that was cut; nothing for 0. `what` may follow the number: " reasons". */
void page_more(struct text *out, size_t count, const char *what);

/* "820 ms", "12.4 s", "3 min 20 s". */
void page_add_duration(struct text *out, int64_t ms);
