/* SPDX-License-Identifier: MIT */
#pragma once

/* The formats of a report, behind one table. A writer reads a report that report_render() made. */

#include "base/json.h"

struct writer_options {
	bool color;	      /* terminal styles */
	int columns;	      /* of the terminal; 0: texts are not cut to a width */
	const char *location; /* the report's folder, for people; NULL when it is not stored */
};

typedef int writer_fn(const cJSON *report, const struct writer_options *options, struct text *out,
		      struct error *err);

struct writer {
	const char *name;      /* "summary" */
	const char *file_name; /* in a report's folder; NULL: not written there */
	writer_fn *write;
};

extern const struct writer writers[];	 /* ended by {NULL} */
extern const char *const writer_names[]; /* their names, in the same order, NULL-ended */

/* NULL: no such format. */
const struct writer *writer_find(const char *name);

/* Errors of the writer: not a valid report. */
int writer_print(const struct writer *writer, const cJSON *report,
		 const struct writer_options *options, char **out, struct error *err);

/* Options for standard output: its colours and width. */
struct writer_options writer_options_of_stdout(void);

/* Prints the report on standard output, with its colours and width. ERROR_IO: it cannot be
 * written. */
int writer_show(const char *name, const cJSON *report, const char *location, struct error *err);

/*
 * The report for a terminal, in at most SUMMARY_LINES lines: the verdict, what it is about, what works, which launches
 * ended as predicted, what does not work and what to do about it, which failures expectations know, what was not tested
 * and why, and the journal's digest. Everything that comes from outside is escaped. With writer_options.columns lines
 * are cut to that width, the verdict, advice and the digest excepted.
 */
writer_fn summary_write;
enum { SUMMARY_LINES = 12 };

/*
 * JUnit XML: a testsuite for each suite, a testcase for each check. fail → failure; crash, timeout
 * and broken → error; expected-fail, unsupported and notrun → skipped with the reason; an
 * improvement → failure that names the expectation entry to remove.
 */
writer_fn junit_write;

/*
 * Sonobuoy's format "manual" (sonobuoy_results.yaml; JSON is YAML): an item for each check. pass → passed; fail, crash and an
 * improvement → failed; timeout → timeout; expected-fail, unsupported and not-applicable → skipped; broken and notrun →
 * unknown. The whole is failed if an item is, or by exit code 1; passed by exit code 0 if an item is; else unknown.
 */
writer_fn sonobuoy_write;

/* One HTML file for people, in the report's folder, whose evidence it links to (reports/pages/page.h). */
writer_fn html_write;

/*
 * Markdown for the page of a CI job, or a merge request (CommonMark, and tables as GitHub has them; no HTML): the
 * verdict, what it is about, what failed and what to do, known failures, APIs by device, what was not tested and why,
 * and the journal's digest. Long lists are cut, with a line that says how much is left out and that
 * writer_options.location has it. It never exceeds MARKDOWN_REPORT_MAX bytes.
 */
writer_fn markdown_write;
enum { MARKDOWN_REPORT_MAX = 512 * 1024 }; /* GitHub accepts twice as much from a step */
