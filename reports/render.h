/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reports: the journal that a run writes (journal.h), the words of a report and the rules between them
 * (model.h), and its output formats (writer.h). Nothing here knows what a check is about, or runs one.
 *
 * The report is a pure function of the journal. docs/report.md and reports/schema/report.schema.json
 * describe it. A check that began and did not end becomes `crash`, a planned one that never began
 * `notrun`.
 */

#include "reports/journal_read.h"

/* The kind of event for a clock that went backwards. */
#define REPORT_CLOCK_SET_BACK "clock-set-back"

#define REPORT_SCHEMA "gpucert-report/2"

/* Caller owns *report (cJSON_Delete). ERROR_FORMAT names "path:line" and the member. */
int report_render(const struct journal_log *log, cJSON **report, struct error *err);

/* The report of DIRECTORY/journal.ndjson. Caller owns *report. */
int report_read_directory(const char *directory, cJSON **report, struct error *err);

/* Writes the file of every writer that has one (reports/writer.h: report.json, junit.xml) into the
 * directory, each replaced atomically. */
int report_write_directory(const char *directory, const cJSON *report, struct error *err);

/* Reports that can be compared byte by byte: members that differ between two runs in one environment
 * get fixed values. reports/schema/report.schema.json marks exactly these members with x-volatile.
 * The observed value of an assertion is "*" if the assertion says that it varies, also in reasons
 * made from it. The run's events about remains of earlier runs are left out. */
void report_make_reproducible(cJSON *report);

struct volatile_member {
	const char *pointer; /* JSON pointer in which "*" is every item or member */
	const char *value;   /* its fixed value, as JSON */
};

extern const struct volatile_member volatile_members[]; /* ended by {NULL, NULL} */

/*
 * Are the files next to a report those that its run stored? The journal's records are chained
 * (reports/journal_read.h) and hold the digest of every piece of evidence; the files are compared
 * with these. Adds a line to `faults` for each piece of evidence that is missing below `directory`
 * or is not what the report says. Paths that lead out of the directory are faults.
 */
void report_verify_evidence(const char *directory, const cJSON *report, struct text_list *faults);

/* Reads a whole file of a report's folder, followed by a NUL; `path` has '/' as separator. ERROR_FORMAT: the path
 * contains a link, or leads out of the folder. Errors of file_read(); ERROR_NOT_FOUND. Caller frees *data. */
int report_read_file(const char *directory, const char *path, size_t max, char **data, size_t *size,
		     struct error *err);

enum {
	REPORT_EVIDENCE_MAX = 64 * 1024 * 1024
}; /* bytes of one piece, whatever an untrusted report says */

/* The same for an item of checks[].evidence. ERROR_FORMAT and ERROR_LIMIT also: it is not what the report says. */
int report_read_evidence(const char *directory, const cJSON *evidence, char **data, size_t *size,
			 struct error *err);

/* verdict.exitCode of a report: the exit code of the program that made it. */
int report_exit_code(const cJSON *report);
