/* SPDX-License-Identifier: MIT */
#pragma once

/* Attesting a report's folder, and what anybody with the public key can tell of one. */

#include "reports/certificates/folder.h"
#include "reports/certificates/key.h"

/*
 * The DSSE envelope about a folder. What folder_open() and its checks find wrong, and each expectation that the run used and that was
 * to be looked at again before `today` ("2026-11-22..."), is put into `faults`, and nothing is signed: *envelope stays NULL.
 * Errors of statement_make(). Caller owns *envelope.
 */
int attest_folder(const char *path, const char *url, const char *today, const struct key *key,
		  cJSON **envelope, struct faults *faults, struct error *err);

/* What is compared with. */
struct attest_trust {
	const struct key *key;
	const char *attestation;	  /* its file; NULL: ATTESTATION_FILE_NAME in the folder */
	const struct text_list *subjects; /* files that must be among what was tested; NULL: none */
	const char *today;		  /* "2026-11-22..." */
};

/*
 * Adds everything to `faults` that keeps the folder from being what the key's owner attested; nothing when it is. What can be told
 * without the attestation is told also where that is broken. *statement is what was signed, or stays NULL where it
 * cannot be trusted; caller owns it. `folder` is open.
 */
int attest_verify(struct folder *folder, const struct attest_trust *trust, cJSON **statement,
		  struct faults *faults, struct error *err);
