/* SPDX-License-Identifier: MIT */
#pragma once

/* Comparisons with one report as a page of HTML (reports/pages/page.h). */

#include "reports/pages/compare/compare.h"
#include "reports/pages/page.h"

/* Empty when zeroed. */
struct compare_page {
	bool several; /* set before the first: each comparison is a section of its own */
	size_t count; /* of the comparisons added so far */
	struct text title;
	struct page page;
};

#define CLEANUP_COMPARE_PAGE __attribute__((cleanup(compare_page_free)))

/* Adds a comparison of the reports at the paths, with links to them (report_add_link()). Keeps no pointer to it. */
void compare_page_add(struct compare_page *page, const struct comparison *comparison,
		      const char *from, const char *to);

/* Adds the whole page. */
void compare_page_print(const struct compare_page *page, struct text *out);
void compare_page_free(struct compare_page *page);
