/* SPDX-License-Identifier: MIT */
#pragma once

/* Shared by `attest`, `verify` and `certify`. */

#include "base/text.h"
#include "reports/certificates/faults.h"
#include "reports/certificates/key.h"

enum { EXIT_FAULTS = 1 }; /* a fault was found */

/* The key of --key, which must be given: ERROR_ARGUMENT. Errors of key_read(); free with key_free(). */
int attest_key(const char *path, enum key_kind kind, struct key *out, struct error *err);

/* Each fault as a line on standard error: "gpucert COMMAND: KIND: WHAT". The exit code. */
int attest_print_faults(const char *command, const struct faults *faults);

/* Prints JSON (reports/schema/verification.schema.json), or `text` if there is no fault and the faults
 * otherwise; the exit code. `statement` may be NULL, and so may `subject` (certify_subject()). */
int attest_print(const char *command, bool json, const char *text, const char *keyid,
		 const struct text_list *subject, const cJSON *statement,
		 const struct faults *faults, struct error *err);
