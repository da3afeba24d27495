/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The report: a pure function of the journal. docs/report.md and reports/schema/report.schema.json
 * describe it. A check that began and did not end becomes `crash`, a planned one that never began
 * `notrun`.
 */

#include "reports/journal_read.h"

#define REPORT_SCHEMA "gpucert-report/1"

struct report_options {
	bool reproducible; /* volatile members (the schema's x-volatile) get their fixed values */
};

/* Caller owns *report (cJSON_Delete). ERROR_FORMAT names "path:line" and the member. */
int report_render(const struct journal_log *log, const struct report_options *options,
		  cJSON **report, struct error *err);

/* The report of DIRECTORY/journal.ndjson. Caller owns *report. */
int report_read_directory(const char *directory, const struct report_options *options,
			  cJSON **report, struct error *err);

/* Writes what every writer with a file makes of the report (reports/writer.h: report.json,
 * junit.xml) into the directory, each replaced atomically. */
int report_write_directory(const char *directory, const cJSON *report, struct error *err);

/* verdict.exitCode of a report: the exit code of the program that made it. */
int report_exit_code(const cJSON *report);
