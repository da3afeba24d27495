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

enum {
	PAGE_STRING_MAX = 600, /* bytes of a text that something outside chose */
	PAGE_DETAILS_MAX =
		190 *
		1024, /* bytes of the page beyond which passed checks are told without details */
};

typedef void report_page_fn(const struct report_page *page);

/* report_environment.c */
report_page_fn report_page_environment;

/* report_grid.c: which API works on which device. */
report_page_fn report_page_grid;
bool report_page_has_grid(const struct report_page *page);

/* report_isolation.c: which container saw which device. */
report_page_fn report_page_isolation;
bool report_page_has_isolation(const struct report_page *page);

/* report_timeline.c */
report_page_fn report_page_timeline;
bool report_page_has_timeline(const struct report_page *page);

/* report_failures.c */
report_page_fn report_page_failures;
bool report_page_has_failures(const struct report_page *page);
report_page_fn report_page_untested;
bool report_page_has_untested(const struct report_page *page);

/* report_checks.c */
report_page_fn report_page_checks;

/* report_requirements.c */
report_page_fn report_page_requirements;
bool report_page_has_requirements(const struct report_page *page);
report_page_fn report_page_images;
bool report_page_has_images(const struct report_page *page);

/* A link to the check in the list of checks. */
void report_page_check_link(struct text *out, const char *id);

/* "must ISO-01", a link to the requirement; nothing for a check that tests none. */
void report_page_requirement_link(struct text *out, const struct view_check *check);

/* What was compared and did not hold, or did: at most `most` rows, then how many more. Nothing for none. */
void report_page_assertions(struct text *out, const struct view_check *check, bool ok, size_t most);

/* Links to the check's evidence; nothing for none. */
void report_page_evidence(struct text *out, const struct view_check *check);

/* The text, cut to `most` bytes, or to PAGE_STRING_MAX. */
void report_page_clipped(struct text *out, const char *text, size_t most);
void report_page_text(struct text *out, const char *text);

/* <dt> and <dd> in a <dl>; nothing for an empty value. */
void report_page_fact(struct text *out, const char *name, const char *value);
