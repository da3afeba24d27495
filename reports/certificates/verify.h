/* SPDX-License-Identifier: MIT */
#pragma once

/* Attests a report's folder, and verifies one with the public key. */

#include "reports/certificates/folder.h"
#include "reports/certificates/key.h"

/*
 * The DSSE envelope about a folder. The faults that folder_open() and its checks find, and each expectation of the run
 * whose review was due before `today` ("2026-11-22..."), are put into `faults`, and nothing is signed: *envelope stays
 * NULL. Errors of statement_make(). Caller owns *envelope.
 */
int attest_folder(const char *path, const char *url, const char *today, const struct key *key,
		  cJSON **envelope, struct faults *faults, struct error *err);

/* What the folder is compared with. */
struct attest_trust {
	const struct key *key;
	const char *attestation;	  /* its file; NULL: ATTESTATION_FILE_NAME in the folder */
	const struct text_list *subjects; /* files that must be among the tested ones; NULL: none */
	const char *today;		  /* "2026-11-22..." */
};

/*
 * Adds every difference between the folder and what the key's owner attested to `faults`. Faults that do not depend on
 * the attestation are reported even if that is broken. *statement is the signed one, or stays NULL if it cannot be
 * trusted; caller owns it. `folder` is open.
 */
int attest_verify(struct folder *folder, const struct attest_trust *trust, cJSON **statement,
		  struct faults *faults, struct error *err);
