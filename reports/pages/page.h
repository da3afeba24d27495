/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The shell of a page: one HTML file without a request to anywhere, that opens from disk. Its style and its script are
 * embedded, and its Content-Security-Policy allows these two, by digest, and nothing else; so there are no
 * style="" attributes and no handlers in markup. Everything is there without the script, which filters, switches the
 * theme and opens what a link points to.
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

/* A <section> with an id, named by its heading. `count`: what it holds, told beside the heading; 0: nothing is told.
 * `lead`: a sentence below; NULL for none. */
void page_section_begin(struct page *page, const char *id, const char *heading, size_t count,
			const char *lead);
void page_section_end(struct page *page);

/* Adds the whole page; fails when anything in it did. `kind` ("Report") stands above the title. */
void page_print(const struct page *page, const char *kind, const char *title, struct text *out);
void page_free(struct page *page);

/* How good something is: the colours of a page. Beside the colour a word says the same, and a mark: "✓", "✗", "!", "–". */
enum page_tone { PAGE_GOOD, PAGE_BAD, PAGE_WARN, PAGE_QUIET, PAGE_TONE_COUNT };

/* "good", "bad", "warn", "quiet": classes of badges, cells (`td`, `th`) and shapes. */
extern const char *const page_tone_names[PAGE_TONE_COUNT];

/* fail, crash and timeout are bad; broken is a warning, as what proves nothing is; unsupported, not-applicable and notrun are quiet. */
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

/* A table that is wide by nature scrolls by itself where the page is narrow; the page never does. A <table> is open in it,
 * which the caller fills. */
void page_grid_begin(struct text *out, const char *class, const char *label);
void page_grid_end(struct text *out);

/* "and 3 more, in report.json", of which some are cut; nothing for 0. `what` may say which: "and 3 more that held, …". */
void page_more(struct text *out, size_t count, const char *what);

/* "820 ms", "12.4 s", "3 min 20 s". */
void page_add_duration(struct text *out, int64_t ms);
