/* SPDX-License-Identifier: MIT */
#pragma once

/* What is wrong with a report's folder or its attestation: each fault has a word for programs and a sentence for people. */

#include "base/members.h"

enum fault_kind {
#define FAULT(symbol, word) FAULT_##symbol,
#include "reports/attest/faults.def"
#undef FAULT
};

enum { FAULTS_MAX = 200 }; /* of one list; the last one says that there are more */

struct faults {
	cJSON *items; /* array of {"kind", "what"}; NULL while there are none */
};

#define CLEANUP_FAULTS __attribute__((cleanup(faults_free)))

int faults_add(struct faults *faults, struct error *err, enum fault_kind kind, const char *format,
	       ...) PRINTF_LIKE(4, 5);

/* Makes a fault of a step's error `why`: "WHAT: ...". ERROR_MEMORY when that is what it is. */
int faults_take(struct faults *faults, const struct error *why, enum fault_kind kind,
		const char *what, struct error *err);
size_t faults_count(const struct faults *faults);

void faults_free(struct faults *faults);
