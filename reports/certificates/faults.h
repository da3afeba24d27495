/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What is wrong with a report's folder or its attestation: each fault has a word for programs, of those in
 * reports/schema/verification.schema.json and docs/attestation.md, and a sentence for people.
 */

#include "base/members.h"

enum { FAULTS_MAX = 200 }; /* of one list; the last one says that there are more */

struct faults {
	cJSON *items; /* array of {"kind", "what"}; NULL while there are none */
};

#define CLEANUP_FAULTS __attribute__((cleanup(faults_free)))

void faults_add(struct faults *faults, const char *kind, const char *format, ...) PRINTF_LIKE(3, 4);

/* Makes a fault of a step's error `why`: "WHAT: ..."; of a file that this user may not read nothing else is known. */
void faults_take(struct faults *faults, const struct error *why, const char *kind,
		 const char *what);
size_t faults_count(const struct faults *faults);
void faults_free(struct faults *faults);
