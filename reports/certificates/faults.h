/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The faults of a report's folder or its attestation: each has a word for programs
 * (reports/schema/verification.schema.json, docs/attestation.md) and a sentence for people.
 */

#include "base/members.h"

enum { FAULTS_MAX = 200 }; /* in one list; the last one says that there are more */

struct faults {
	cJSON *items; /* array of {"kind", "what"}; NULL: none so far */
};

#define CLEANUP_FAULTS __attribute__((cleanup(faults_free)))

void faults_add(struct faults *faults, const char *kind, const char *format, ...) PRINTF_LIKE(3, 4);

/* Makes a fault of a step's error `why`: "WHAT: ..."; about a file that this user may not read nothing else is
 * known. */
void faults_take(struct faults *faults, const struct error *why, const char *kind,
		 const char *what);
size_t faults_count(const struct faults *faults);
void faults_free(struct faults *faults);
