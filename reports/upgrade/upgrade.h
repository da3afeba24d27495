/* SPDX-License-Identifier: MIT */
#pragma once

/* Earlier versions of what a run writes, made today's (base/schema.h, docs/versions.md). */

#include "base/schema.h"

extern const struct schema report_schema; /* of a report's object */
extern const struct schema
	journal_schema; /* of the array of a journal's records, the first of which has `schema` */

/* --- the steps, report_1.c and journal_1.c --- */

/*
 * Version 1 had variants of a check ("id@variant" named one), attempts of which the last counted, the outcome
 * `skip` and the disposition `flaky`. A variant becomes the check "id@variant", and `skip` becomes `unsupported`, which
 * leaves a requirement as open.
 */
schema_step upgrade_report_1;

/* In version 1 a check's end held what the check had seen, which are records of their own now, in front of it and
 * with its `seq`. No run wrote a second attempt, and none is read. */
schema_step upgrade_journal_1;

/* What reports and plans had in common: the variant, and `skip`. */
int upgrade_check_1(cJSON *check, struct error *err);
