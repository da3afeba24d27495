/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of a report for people, each written once for all forms of a document. */

#include "reports/document.h"
#include "reports/findings.h"

struct report_document {
	struct doc *doc;
	const cJSON *report;
	const char *location; /* the report's folder; NULL when it is not stored */
	struct findings findings;
	size_t untested_left; /* checks not yet printed */
};

#define CLEANUP_REPORT_DOCUMENT __attribute__((cleanup(report_document_free)))

/* Errors of findings_open(). Free with report_document_free(), after an error, too. */
int report_document_open(const cJSON *report, const char *location, struct doc *doc,
			 struct report_document *out, struct error *err);
void report_document_free(struct report_document *document);

/* How the run ended. */
void report_add_verdict(struct report_document *it);

/* The findings as a list, within `lines`: a finding is one line, and in a terminal or in Markdown one more with advice
 * for problems. Returns the number of checks that are left out. */
size_t report_add_findings(struct report_document *it, const struct finding_list *list,
			   size_t lines);

/* The environment: its facts, and its devices. */
void report_add_environment(struct report_document *it);

/* The APIs that work on each device, returns their number; 0: none was tested. */
void report_add_apis(struct report_document *it);
size_t report_count_apis(const struct report_document *it);

/* The last lines: the report's place, with the number of checks that were not printed, and the journal's digest. */
void report_add_end(struct report_document *it, size_t failed_left, size_t untested_left);

/* "3 more devices: out/report.json", after a list of which only the first were shown. */
void report_add_more(struct report_document *it, size_t count, size_t shown, const char *what);

/* The id of a check, in HTML a link to the check. */
void report_add_check(struct report_document *it, const char *class, const char *id,
		      const char *name);

/* The devices of the environment. */
const cJSON *report_devices(const struct report_document *it);
