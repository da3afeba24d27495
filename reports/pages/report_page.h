/* SPDX-License-Identifier: MIT */
#pragma once

/* The sections that only the page of a report has. */

#include "reports/report_document.h"

typedef void report_page_fn(struct report_document *it);
typedef size_t report_page_count_fn(const struct report_document *it); /* of the section's items */

/* report_checks.c */
report_page_fn report_page_failures;
report_page_count_fn report_page_count_failures;
report_page_fn report_page_checks;

/* report_isolation.c: the devices that each container saw. */
report_page_fn report_page_isolation;
report_page_count_fn report_page_count_containers;

/* report_requirements.c */
report_page_fn report_page_requirements;
report_page_fn report_page_images;

/* report_timeline.c */
report_page_fn report_page_timeline;

/* Parts of a whole as one bar; the class of each decides its colour. */
void report_page_bar(struct doc *doc, const int64_t *sizes, const char *const *classes,
		     size_t count);
