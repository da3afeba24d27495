/* SPDX-License-Identifier: MIT */
#pragma once

/* The sections of a report's page. Each writes what stands between page_section_begin() and page_section_end(). */

#include "reports/findings.h"
#include "reports/page/page.h"

struct report_page {
	const cJSON *report;
	const struct findings *findings;
	struct text *out;
};

typedef void report_page_fn(const struct report_page *page);
typedef size_t report_page_count_fn(const struct report_page *page); /* what the section holds */

/* report_environment.c */
report_page_fn report_page_environment;

/* report_failures.c */
report_page_fn report_page_failures;
report_page_count_fn report_page_count_failures;
report_page_fn report_page_untested;
report_page_count_fn report_page_count_untested;

/* report_grid.c: which API works on which device. */
report_page_fn report_page_grid;
report_page_count_fn report_page_count_apis;

/* report_isolation.c: which container saw which device. */
report_page_fn report_page_isolation;
report_page_count_fn report_page_count_containers;

/* report_checks.c */
report_page_fn report_page_checks;
report_page_count_fn report_page_count_checks;

/* report_requirements.c */
report_page_fn report_page_requirements;
report_page_count_fn report_page_count_requirements;
report_page_fn report_page_images;
report_page_count_fn report_page_count_images;

/* report_timeline.c */
report_page_fn report_page_timeline;

/* Parts of a whole, side by side; the class of each says its colour. */
struct report_page_part {
	const char *class;
	int64_t size;
};

void report_page_bar(struct text *out, const struct report_page_part *parts, size_t count);

/* The devices of the environment; in tables of many, cells are narrow. */
const cJSON *report_page_devices(const struct report_page *page);
bool report_page_is_dense(const struct report_page *page);

/* The head of a grid up to its devices, with their names if wanted: the row is open. */
void report_page_grid_head(const struct report_page *page, const char *const *headings, bool named);

/* A link to the check in the list of checks. */
void report_page_check_link(struct text *out, const char *id);

/* A paragraph with links to the check, if wanted, and to the requirement, "must ISO-01", and the severity. */
void report_page_meta(struct text *out, const struct view_check *check, bool linked);

/* What was compared: what did not hold, and with `held` what did, each to a limit, beyond which its number is told. Nothing for none. */
void report_page_assertions(struct text *out, const struct view_check *check, bool held);

/* Links to the check's evidence; nothing for none. */
void report_page_evidence(struct text *out, const struct view_check *check);
