/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What an attestation says: an in-toto Statement v1 with the predicate test-result v0.1
 * (github.com/in-toto/attestation, spec/v1/statement.md and spec/predicates/test-result.md).
 *
 * Subjects are the things that were tested, by the digests of the report's environment: plugin/NAME, plugin-file/NAME,
 * driver/KEY (its package), runtime-files/KEY (its files in containers), image/REFERENCE. The configuration is each
 * file of the folder (folder_file_names) and `evidence`, by the digest over one line "HEX PATH\n" for each of its
 * files, as sha256sum prints them, sorted.
 */

#include "reports/certificates/folder.h"

#define STATEMENT_PAYLOAD_TYPE	 "application/vnd.in-toto+json"
#define STATEMENT_TYPE		 "https://in-toto.io/Statement/v1"
#define STATEMENT_PREDICATE_TYPE "https://in-toto.io/attestation/test-result/v0.1"

/*
 * The statement about a folder that folder_open() and its checks found nothing wrong with. `url`: of the run, or NULL.
 *
 * Result: PASSED: the run is conformant, and no check failed; WARNED: it is conformant and a check failed that no MUST
 * asks for, or it is conformant except for what the folder's claims justified when it ended; FAILED: everything else, a
 * run in which something was not tested included. passedTests are the checks that passed and prove their requirement,
 * failedTests those that failed, timed out, crashed or broke, but for those of SHOULD and MAY requirements: these, and
 * passes that prove nothing, are warnedTests. Checks that did not run are in none.
 *
 * ERROR_NOT_FOUND: the report has no digest of anything that was tested. Caller owns *statement.
 */
int statement_make(const struct folder *folder, const char *url, cJSON **statement,
		   struct error *err);

/* Is the document a statement with this predicate? ERROR_FORMAT. The caller compares the rest; unknown members are
 * ignored. */
int statement_check(const cJSON *statement, struct error *err);

/* "sha256:..." of the configuration's entry of that name; "" when it has none. */
void statement_digest(const cJSON *statement, const char *name, char out[DIGEST_SIZE]);

/* Is a subject of this digest ("sha256:...") among them? */
bool statement_has_subject(const cJSON *statement, const char *digest);
