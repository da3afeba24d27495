/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The records of a check's process: JSON lines on its standard output, written while it runs, so
 * that nothing is lost when it dies. Observations (assertion, note, evidence, device, prediction)
 * go into the journal at once, under the check's own name whatever the line says; the others
 * concern the outcome and are kept here:
 *
 *	remark {outcome, text}     broken, unsupported or not-applicable, and why
 *	time {phase, ns}           where the check's time went
 *	watched {ms, thoroughMs}   how long it watched, and how long a thorough run does
 *	plugin {resource, pid}     a plugin registered
 *	failing {device, fails}    it is about to be made to fail, or works again
 *	advice {text}              what to do, in place of the row's advice; the first one counts
 *	kept                       it waits, at its first failure, until it may continue
 *	finished                   the body returned and its clean-ups ran
 */

#include "conformance/runner/check.h"
#include "reports/journal.h"

/* Bytes of all lines; more makes the check broken, and so does a line longer than PROCESS_LINE_MAX. */
enum { RESULT_MAX = 32 * 1024 * 1024 };

/* A plugin registered `resource`; process `pid` serves its socket, 0: unknown. */
typedef void result_plugin(const char *resource, int pid, void *user);

struct result {
	struct journal *journal;  /* NULL: observations are not kept */
	const char *check;	  /* its name in the journal */
	result_plugin *on_plugin; /* called as the line comes; may be NULL */
	void *user;
	size_t bytes;
	uint64_t time_ns[REPORT_PHASE_COUNT];
	uint64_t watched_ms;	      /* the shortest time that the check watched something */
	uint64_t watched_thorough_ms; /* and that of a thorough run; 0: nothing was watched */
	struct text_list devices;     /* the devices that the check is about, by id */
	struct text_list failing;     /* devices that --fail-device made to fail */
	char *advice;		      /* NULL: that of the row */
	bool asserted;
	bool kept;
	bool finished;
	char *reasons[REPORT_OUTCOME_COUNT]; /* the first for each outcome; that of a failure is
						"what: got X, expected Y" */
};

#define CLEANUP_RESULT __attribute__((cleanup(result_free)))
void result_free(struct result *result);

/* Adds one line. ERROR_FORMAT, ERROR_LIMIT: the check broke the protocol; errors of the journal.
 */
int result_add_line(struct result *result, const char *line, size_t size, struct error *err);

/* The outcome of a body that ended by itself: broken before fail before unsupported before
 * not-applicable before pass; nothing recorded is broken. `reason` is borrowed from the result, ""
 * for a pass. */
enum report_outcome result_outcome(const struct result *result, const char **reason);
