/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The records of a journal as JSON, without the members that every line has (seq, atMs, time). Each
 * returns a new object whose first member is its type, or NULL when memory ran out.
 */

#include "reports/journal.h"

#define JOURNAL_SCHEMA "gpucert-journal/1"

cJSON *journal_record_run_begin(const struct journal_run *run);
cJSON *journal_record_environment(const cJSON *environment);
cJSON *journal_record_plan(const struct journal_plan *plan);
cJSON *journal_record_phase(enum report_phase phase, const char *what, uint64_t duration_ms);
cJSON *journal_record_check_begin(const char *check, unsigned attempt, uint64_t timeout_ms);
cJSON *journal_record_evidence(const char *check, const cJSON *evidence);
cJSON *journal_record_event(const char *check, const char *kind, const char *text);
cJSON *journal_record_check_held(const char *check, const char *cause, const char *reason);
cJSON *journal_record_check_end(const struct journal_check_end *end);
cJSON *journal_record_abort(enum report_abort abort, const char *reason);
cJSON *journal_record_run_end(void);

/* Durable records are on disk when the call returns. */
enum journal_durability { JOURNAL_BUFFERED, JOURNAL_DURABLE };

/* Takes ownership of `record`; NULL is ERROR_MEMORY. */
int journal_append(struct journal *journal, cJSON *record, enum journal_durability durability,
		   struct error *err);
