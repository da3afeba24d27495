/* SPDX-License-Identifier: MIT */
#pragma once

/* The sections of a report's page. Each writes the content between page_section_begin() and page_section_end(). */

#include "reports/findings.h"
#include "reports/pages/page.h"

struct report_page {
	const cJSON *report;
	const struct findings *findings;
	struct text *out;
};

typedef void report_page_fn(const struct report_page *page);
typedef size_t report_page_count_fn(const struct report_page *page); /* of the section's items */

/* report_environment.c */
report_page_fn report_page_environment;

/* report_checks.c */
report_page_fn report_page_failures;
report_page_count_fn report_page_count_failures;
report_page_fn report_page_first_failures; /* a line each, below the verdict */
report_page_fn report_page_untested;
report_page_count_fn report_page_count_untested;
report_page_fn report_page_checks;

/* report_devices.c: the APIs that work on each device, and the devices that each container saw. */
report_page_fn report_page_grid;
report_page_count_fn report_page_count_apis;
report_page_fn report_page_isolation;
report_page_count_fn report_page_count_containers;

/* report_requirements.c */
report_page_fn report_page_requirements;
report_page_fn report_page_images;

/* report_timeline.c */
report_page_fn report_page_timeline;

/* Parts of a whole as one bar; the class of each decides its colour. */
void report_page_bar(struct text *out, const int64_t *sizes, const char *const *classes,
		     size_t count);

/* The devices of the environment; in tables of many, cells are narrow. */
const cJSON *report_page_devices(const struct report_page *page);
bool report_page_is_dense(const struct report_page *page);

/* A link to the check in the list of checks. */
void report_page_check_link(struct text *out, const char *id);
