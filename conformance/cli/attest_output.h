/* SPDX-License-Identifier: MIT */
#pragma once

/* What `attest`, `verify` and `certify` have in common. */

#include "base/text.h"
#include "reports/attest/faults.h"
#include "reports/attest/key.h"

enum { EXIT_FAULTS = 1 }; /* something is not as it was attested */

/* The key of --key, which must be given: ERROR_ARGUMENT. Errors of key_read(); free with key_free(). */
int attest_key(const char *path, enum key_kind kind, struct key *out, struct error *err);

/* Each fault as a line on standard error: "gpucert COMMAND: KIND: WHAT". The exit code. */
int attest_tell(const char *command, const struct faults *faults);

/* Prints as JSON (reports/schema/verification.schema.json) or, where there is no fault, `text`; the exit code. `statement` may be
 * NULL, and `subject` (certify_subject()) of other commands than `certify`. */
int attest_print(const char *command, bool json, const char *text, const char *keyid,
		 const struct text_list *subject, const cJSON *statement,
		 const struct faults *faults, struct error *err);
