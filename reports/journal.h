/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writing journal.ndjson: everything that happens in a run, as it happens, one JSON record a line.
 *
 * The runner is the only writer and owns the sequence; processes of checks report to it. A line is
 * written with one write(2); run-begin, check-begin, check-end, abort and run-end are on disk when
 * the call returns. Each holds the digest of the line before it (`prev`), so that later changes or
 * removals are detected. The file appears together with its first record, so every journal can be
 * rendered. reports/schema/journal.schema.json describes the records, reports/journal_read.h reads
 * them.
 *
 * Order: journal_create, then in any order environment, phases and events; the plan once, before
 * the first check; for each check its begin, records and events, and end; finally journal_end().
 *
 * Every function copies its arguments. All errors name the journal: ERROR_IO (a full disk leaves no
 * part of the line behind), ERROR_LIMIT (line or journal too long). Strings may hold any bytes:
 * what is not UTF-8 becomes U+FFFD, and texts beyond JOURNAL_TEXT_MAX are cut.
 */

#include "reports/model.h"
#include "reports/records.h"
#include "reports/redact/redact.h"

enum {
	JOURNAL_LINE_MAX = 4 * 1024 * 1024,  /* bytes of a line */
	JOURNAL_SIZE_MAX = 64 * 1024 * 1024, /* bytes of a journal */
	JOURNAL_TEXT_MAX = 4096,	     /* bytes of a reason or of an event's text */
	/* Bytes of one check for each of: failed assertions, passed assertions, all other records.
	 * So notes never hide a failure. */
	JOURNAL_SEEN_MAX = 192 * 1024,
	/* Records of each, the limit that most checks reach first: then two runs leave out the same. */
	JOURNAL_SEEN_COUNT_MAX = 400,
};

#define JOURNAL_FILE_NAME "journal.ndjson"

struct journal;

#define CLEANUP_JOURNAL __attribute__((cleanup(journal_close)))

struct journal_run {
	const char *id;			 /* "20261120T101502Z-7f3a" */
	const char *commit;		 /* source revision of the harness; NULL when unknown */
	const char *table_digest;	 /* digest of the table of checks; NULL when unknown */
	const char *const *argv;	 /* the command line, NULL-ended, without the program */
	unsigned timeout_percent;	 /* scale of all time limits; 100 is unscaled */
	unsigned min_run;		 /* checks that must run, else exit code 5; 0 counts as 1 */
	bool conformance_required;	 /* whatever is not conformant makes the exit code 1 */
	const struct redactor *redactor; /* redacts records, and texts before the cut; borrowed, may
					  * learn more facts; NULL: none */
};

/* Makes the journal with its record run-begin. ERROR_EXISTS when `path` exists. Close with
 * journal_close(). */
int journal_create(const char *path, const struct journal_run *run, struct journal **out,
		   struct error *err);
void journal_close(struct journal **journal);

/*
 * The run's environment: an object with any of os, runtime, plugin (objects), drivers, devices,
 * images (arrays of objects); docs/report.md names their members. Each record replaces the members
 * that it holds, so facts are added as they become known. ERROR_FORMAT: another section, a section
 * of another type, or an item without its name (drivers key, devices and images ref).
 */
int journal_add_environment(struct journal *journal, const cJSON *environment, struct error *err);

/* Takes the members of the record `plan` (docs/report.md). Checks with an outcome will not run and
 * need no further record. */
int journal_add_plan(struct journal *journal, struct members *plan, struct error *err);

/* A phase of the run outside its checks: "containerd started". */
int journal_add_phase(struct journal *journal, enum report_phase phase, const char *what,
		      uint64_t duration_ms, struct error *err);

int journal_begin_check(struct journal *journal, const char *check, uint64_t timeout_ms,
			struct error *err);

/* Adds a record of a running check's process, with only the members of its type. ERROR_FORMAT: it is not such a
 * record. Beyond JOURNAL_SEEN_MAX or JOURNAL_SEEN_COUNT_MAX it is left out, and the check's end says how many
 * were. */
int journal_add_seen(struct journal *journal, const char *check, enum journal_type type,
		     const cJSON *seen, struct error *err);

/* Adds an event: `kind` is a word ("plugin-exited"), `text` a sentence. `check` is the running
 * check, or NULL. */
int journal_add_event(struct journal *journal, const char *check, const char *kind,
		      const char *text, struct error *err);

/* Records a planned check that does not run because another one, `cause`, ended badly; replaces all
 * other records of the check. */
int journal_hold_check(struct journal *journal, const char *check, const char *cause,
		       const char *reason, struct error *err);

struct journal_check_end {
	const char *check;
	enum report_outcome outcome;
	const char *reason; /* one sentence; "" for a pass */
	uint64_t duration_ms;
	uint64_t phases_ms[REPORT_PHASE_COUNT];
	uint64_t watched_ms;	      /* how long the check watched, and how long a */
	uint64_t watched_thorough_ms; /* thorough run watches; 0: it does not watch */
	const char *advice;	      /* replaces the plan's; NULL: the plan's */
};

int journal_end_check(struct journal *journal, const struct journal_check_end *end,
		      struct error *err);

/* The runner gives up: `reason` is for people. journal_end() follows. */
int journal_abort(struct journal *journal, enum report_abort abort, const char *reason,
		  struct error *err);

int journal_end(struct journal *journal, struct error *err);
