/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A certification folder, in the manner of the conformance programmes of Kubernetes and OCI: product.yaml, README.md,
 * report.json, journal.ndjson, junit.xml, evidence/, claims.json if something is claimed, and attestation.json, which
 * covers all others.
 */

#include "reports/certificates/product.h"
#include "reports/certificates/verify.h"

struct certify_plan {
	const char *report;  /* a run's folder */
	const char *product; /* product.yaml */
	const char *claims;  /* NULL: claims.json of the run's folder, if there is one */
	const struct key *key;
	const char *out;   /* a folder that does not exist, or is empty */
	const char *today; /* "2026-11-22..." */
};

/* Builds the folder. If the product cannot be certified, the reasons are put into `faults`, and nothing is written.
 * ERROR_EXISTS: the folder is not empty. */
int certify_build(const struct certify_plan *plan, struct faults *faults, struct error *err);

/* Adds lines on the subject of a report, escaped: CERTIFY_SOFTWARE_ONLY or CERTIFY_VIRTUAL_ONLY where no device is
 * hardware, then the devices on which a check passed, their drivers, system, plugin, runtime and harness. */
#define CERTIFY_SOFTWARE_ONLY "software devices only"
#define CERTIFY_VIRTUAL_ONLY  "virtual devices only"
void certify_subject(const cJSON *report, struct text_list *lines);

/* Adds to `faults` why a folder is not a certificate by the key's owner. *product and *statement are the folder's, if
 * readable; the caller frees both. Adds certify_subject() to `subject`. */
int certify_check(const char *path, const struct key *key, const char *today,
		  struct product *product, struct text_list *subject, cJSON **statement,
		  struct faults *faults, struct error *err);
