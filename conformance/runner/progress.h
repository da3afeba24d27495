/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Progress on stderr. On a terminal one line that is drawn over: done/planned, failures so far,
 * the check that has run longest and its time, and the time left, estimated from the checks so far without their
 * own waits and the slowest tenth. Elsewhere one line every ten seconds, so that a log stays short.
 * For a CI system on stdout, a line for each ended check, in a section for each suite.
 */

#include "reports/ci/ci.h"
#include "reports/model.h"
#include "reports/redact/redact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct progress;

struct progress_options {
	size_t planned;
	bool quiet;		    /* shows nothing */
	bool verbose;		    /* prints a line for each ended check */
	const struct ci_system *ci; /* NULL: none */
	const struct redactor
		*redactor; /* of reasons: others read the log of a CI system; NULL: none */
};

struct progress *progress_open(uv_loop_t *loop, const struct progress_options *options);

/* `check` stays the caller's, and valid until progress_end(). */
void progress_begin(struct progress *progress, const char *check);
void progress_end(struct progress *progress, const char *check, enum report_outcome outcome,
		  const char *reason, uint64_t duration_ms);

/* Adds the line as it is now; it ends with a line feed except on a terminal. */
void progress_add_line(const struct progress *progress, struct text *line);

/* Seconds left for `left` checks, estimated from the costs so far, which it sorts; UINT64_MAX: too few. */
uint64_t progress_estimate_s(uint64_t *costs_ms, size_t count, size_t left);

/* Clears the line, or ends the section; the timer's handle is closed on the loop. NULL is allowed. */
void progress_close(struct progress *progress);
