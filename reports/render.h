/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reports: what a run writes down while it runs (journal.h), the words of a report and the rules between
 * them (model.h), and the formats that it is printed in (writer.h). Nothing here knows what a check is
 * about, or runs one.
 *
 * The report is a pure function of the journal. docs/report.md and reports/schema/report.schema.json
 * describe it. A check that began and did not end becomes `crash`, a planned one that never began
 * `notrun`.
 */

#include "reports/journal_read.h"

/* The kind of the event that tells of a clock which went backwards. */
#define REPORT_CLOCK_SET_BACK "clock-set-back"

#define REPORT_SCHEMA "gpucert-report/2"

/* Caller owns *report (cJSON_Delete). ERROR_FORMAT names "path:line" and the member. */
int report_render(const struct journal_log *log, cJSON **report, struct error *err);

/* The report of DIRECTORY/journal.ndjson. Caller owns *report. */
int report_read_directory(const char *directory, cJSON **report, struct error *err);

/* Writes what every writer with a file makes of the report (reports/writer.h: report.json,
 * junit.xml) into the directory, each replaced atomically. */
int report_write_directory(const char *directory, const cJSON *report, struct error *err);

/* Reports that can be compared byte by byte: members that differ between two runs in one environment
 * get fixed values. reports/schema/report.schema.json marks exactly these members with x-volatile.
 * What an assertion saw is "*" where the assertion says that it varies, and so in the reasons that
 * are made of it. The run's events about the remains of earlier runs are left out. */
void report_make_reproducible(cJSON *report);

struct volatile_member {
	const char *pointer; /* JSON pointer in which "*" is every item or member */
	const char *value;   /* its fixed value, as JSON */
};

extern const struct volatile_member volatile_members[]; /* ended by {NULL, NULL} */

/*
 * Is what lies beside a report what its run stored? The journal's records are chained
 * (reports/journal_read.h) and hold the digest of every piece of evidence; here the files are
 * compared with them. Adds a line to `faults` for each piece of evidence that is missing below
 * `directory` or is not what the report says. Paths that lead out of the directory are faults.
 */
void report_verify_evidence(const char *directory, const cJSON *report, struct text_list *faults);

/* A file of a report's folder, in one piece and with a NUL behind it; `path` has '/' as separator. ERROR_FORMAT: a link is on
 * its way, or it leads out of the folder. Errors of file_read(); ERROR_NOT_FOUND. Caller frees *data. */
int report_read_file(const char *directory, const char *path, size_t max, char **data, size_t *size,
		     struct error *err);

enum {
	REPORT_EVIDENCE_MAX = 64 * 1024 * 1024
}; /* bytes of one piece, whatever a stranger's report says */

/* The same of an item of checks[].evidence. ERROR_FORMAT and ERROR_LIMIT also: it is not what the report says. */
int report_read_evidence(const char *directory, const cJSON *evidence, char **data, size_t *size,
			 struct error *err);

/* verdict.exitCode of a report: the exit code of the program that made it. */
int report_exit_code(const cJSON *report);
