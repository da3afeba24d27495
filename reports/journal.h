/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writing journal.ndjson: everything that happens in a run, as it happens, one JSON record a line.
 *
 * The runner is the only writer and owns the sequence; processes of checks report to it. A line is
 * written with one write(2); run-begin, check-begin, check-end, abort and run-end are on disk when
 * the call returns. Each holds the digest of the line before it (`prev`), so that a line that was
 * changed or taken out later does not go unnoticed. The file exists from the moment at which it
 * holds its first record, so every journal renders. reports/schema/journal.schema.json describes
 * the records, reports/journal_read.h reads them.
 *
 * Order: journal_create, then in any order environment, phases and events; the plan once, before
 * the first check; for each check begin, what it has seen and events, end; at last journal_end().
 *
 * Every function copies what it is given. All errors name the journal: ERROR_IO (a full disk leaves
 * no part of the line behind), ERROR_LIMIT (line or journal too long). Strings may
 * hold any bytes: what is not UTF-8 becomes U+FFFD, and texts beyond JOURNAL_TEXT_MAX are cut.
 */

#include "reports/model.h"
#include "reports/records.h"
#include "reports/redact/redact.h"

enum {
	JOURNAL_LINE_MAX = 4 * 1024 * 1024,  /* bytes of a line */
	JOURNAL_SIZE_MAX = 64 * 1024 * 1024, /* bytes of a journal */
	JOURNAL_TEXT_MAX = 4096,	     /* bytes of a reason or of an event's text */
	/* Bytes that one check may use up for each of: assertions that did not hold, others that
	 * did, all else that it has seen. Notes never hide a failure. */
	JOURNAL_SEEN_MAX = 192 * 1024,
	/* Records of each, which most checks meet first: two runs leave out the same then. */
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
	const struct redactor *redactor; /* of every record, and of texts before they are cut;
					    borrowed, and may learn more; NULL: nothing is redacted */
};

/* Makes the journal with its record run-begin. ERROR_EXISTS when `path` exists. Close with
 * journal_close(). */
int journal_create(const char *path, const struct journal_run *run, struct journal **out,
		   struct error *err);
void journal_close(struct journal **journal);

/*
 * What the run runs in: an object with any of os, runtime, plugin (objects), drivers, devices,
 * images (arrays of objects); docs/report.md names their members. Each record replaces the members
 * that it holds, so facts are added as they become known. ERROR_FORMAT: another section, a section
 * of another type, or an item without its name (drivers key, devices and images ref).
 */
int journal_add_environment(struct journal *journal, const cJSON *environment, struct error *err);

/* Takes the members of the record `plan` (docs/report.md). Checks with an outcome will not run and
 * need no further record. */
int journal_add_plan(struct journal *journal, struct members *plan, struct error *err);

/* Time that a run spends outside its checks: "containerd started". */
int journal_add_phase(struct journal *journal, enum report_phase phase, const char *what,
		      uint64_t duration_ms, struct error *err);

int journal_begin_check(struct journal *journal, const char *check, uint64_t timeout_ms,
			struct error *err);

/* What a check that runs has seen: a record of its process, of which only the members of that type are
 * taken over. ERROR_FORMAT: it is not such a record. Beyond JOURNAL_SEEN_MAX or JOURNAL_SEEN_COUNT_MAX it is left
 * out, and the check's end says how many were. */
int journal_add_seen(struct journal *journal, const char *check, enum journal_type type,
		     const cJSON *seen, struct error *err);

/* Something that happened: `kind` is a word ("plugin-exited"), `text` a sentence. `check` is the
 * check that runs, or NULL. */
int journal_add_event(struct journal *journal, const char *check, const char *kind,
		      const char *text, struct error *err);

/* A check of the plan that does not run because of `cause`, another one, which ended badly; in the
 * place of all other records of that check. */
int journal_hold_check(struct journal *journal, const char *check, const char *cause,
		       const char *reason, struct error *err);

struct journal_check_end {
	const char *check;
	enum report_outcome outcome;
	const char *reason; /* one sentence; "" for a pass */
	uint64_t duration_ms;
	uint64_t phases_ms[REPORT_PHASE_COUNT];
	uint64_t watched_ms;	      /* how long something was watched, and how long a */
	uint64_t watched_thorough_ms; /* thorough run watches it; 0: nothing was */
	const char *advice;	      /* in place of the plan's; NULL: that one fits */
};

int journal_end_check(struct journal *journal, const struct journal_check_end *end,
		      struct error *err);

/* The runner gives up: `reason` is for people. journal_end() follows. */
int journal_abort(struct journal *journal, enum report_abort abort, const char *reason,
		  struct error *err);

int journal_end(struct journal *journal, struct error *err);
