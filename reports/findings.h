/* SPDX-License-Identifier: MIT */
#pragma once

/* The notable facts of a report, for the formats that people read. Texts are not escaped: each format does that. */

#include "reports/document.h"
#include "reports/view.h"

/* Checks with the same outcome, disposition and reason, which are reported once. */
struct finding {
	const struct view_check *check; /* the first; of problems the gravest */
	size_t alike;			/* how many checks */
	size_t held;			/* how many checks did not run because of them */
};

struct finding_list {
	struct finding *items;
	size_t count;
	size_t checks; /* in all; a format subtracts those that it printed */
};

/* Empty when zeroed. */
struct findings {
	struct view view;
	struct finding_list problems; /* unexpected failures and improvements, the gravest first */
	struct finding_list expected; /* failures that were expected */
	struct finding_list
		untested; /* checks that did not run or prove nothing; those that a problem held are only counted in `checks` */
};

#define CLEANUP_FINDINGS __attribute__((cleanup(findings_free)))

/* Borrows the report. Errors of view_open(). Free with findings_free(), after an error, too. */
int findings_open(const cJSON *report, struct findings *findings, struct error *err);
void findings_free(struct findings *findings);

struct findings_headline {
	enum doc_tone tone; /* good, bad, or warn: open */
	const char *word;   /* "PASSED", only if conformant; "FAILED", "PARTIAL", ... */
};

struct findings_headline findings_headline_of(const cJSON *report);

/* Adds "2 of 11 checks passed, 9 fail; not conformant, violated: ISO-01", after "9 known failures; " where the headline is
 * EXPECTED. */
void findings_add_verdict(const cJSON *report, struct text *out);

/* Adds the known failure that no longer occurs, and the expectation to remove. False: there is none. */
bool findings_add_fixed(const struct findings *findings, struct text *out);

/* Adds the kubelets that the plugin works with, where their rules differ: "1.36 and 1.37", or "1.37; 1.36 but for
 * restart.rolling-update". False: a check failed under one. Nothing if no such rule was tested, or all hold while a
 * MUST is violated. */
bool findings_add_kubelets(const cJSON *report, struct text *out);

/* Does the check belong to the finding? */
bool finding_has(const struct finding *finding, const struct view_check *check);

/* Adds "isolation.no-allocation and 2 more". */
void finding_add_name(const struct finding *finding, struct text *out);

/* Adds what follows the check's id: " and 2 more (must ISO-01), 3 checks not run because of it", or what an expectation
 * says. The caller adds the reason next. */
void finding_add_story(const struct finding *finding, struct text *out);
