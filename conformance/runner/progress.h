/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Progress on stderr. On a terminal one line that is drawn over: done/planned, failures so far,
 * what runs for how long, time left by the checks' average. Elsewhere one line each ten seconds, so
 * that a log stays short.
 */

#include "reports/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct progress;

/* `quiet` shows nothing; `verbose` prints a line for each ended check. */
int progress_open(uv_loop_t *loop, size_t planned, bool quiet, bool verbose, struct progress **out,
		  struct error *err);

void progress_begin(struct progress *progress, const char *check);
void progress_end(struct progress *progress, const char *check, enum report_outcome outcome,
		  const char *reason, uint64_t duration_ms);

/* Clears the line; the timer's handle is closed on the loop. NULL is allowed. */
void progress_close(struct progress *progress);
