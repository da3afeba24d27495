/* SPDX-License-Identifier: MIT */
#pragma once

/* What is worth telling of a report, for the formats that people read. Texts are not escaped: each format does that. */

#include "reports/view.h"

struct finding_list {
	const struct view_check **checks;
	size_t count;
	size_t told; /* by the format, which counts them */
};

/* Empty when zeroed. */
struct findings {
	struct view view;
	struct finding_list problems; /* unexpected failures and improvements, the gravest first */
	struct finding_list expected; /* failures that were expected */
	struct finding_list untested; /* what did not run, or proves nothing */
};

#define CLEANUP_FINDINGS __attribute__((cleanup(findings_free)))

/* Borrows the report. Errors of view_open(). Free with findings_free(), after an error, too. */
int findings_open(const cJSON *report, struct findings *findings, struct error *err);
void findings_free(struct findings *findings);

enum findings_tone { FINDINGS_GOOD, FINDINGS_OPEN, FINDINGS_BAD };

struct findings_headline {
	enum findings_tone tone;
	const char *word; /* "PASSED", of what is conformant alone; "FAILED", "PARTIAL", ... */
};

struct findings_headline findings_headline_of(const cJSON *report);

/* Adds "2 of 11 checks passed, 9 fail; not conformant, violated: ISO-01". */
void findings_add_verdict(const cJSON *report, struct text *out);

/* A known failure is mended, which is the first thing to know: adds what, and the expectation to remove. False: none is. */
bool findings_add_fixed(const struct findings *findings, struct text *out);

/* How many of the list have the same reason as this one, which stands for them; 0 when an earlier one does. */
size_t findings_alike(const struct finding_list *list, size_t index);

/* Those that are not told. */
size_t findings_left(const struct finding_list *list);

/* The checks that did not run because of this problem, or of one with the same reason. */
size_t findings_held(const struct findings *findings, const struct view_check *problem);

/* Did the check not run because of one of the problems, which tells it? */
bool findings_is_held(const struct findings *findings, const struct view_check *check);
