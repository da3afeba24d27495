/* SPDX-License-Identifier: MIT */
#include "reports/attest/verify.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "reports/attest/dsse.h"
#include "reports/attest/statement.h"
#include "reports/expect/expectations.h"
#include "reports/render.h"
#include "reports/view.h"

#include <string.h>

/* The rows of expectations that changed what followed from a check's outcome. */
static int check_expectations(const cJSON *report, const char *today, struct faults *faults,
			      struct error *err)
{
	int rc = 0;
	json_each (check, json_pointer(report, "/checks")) {
		const char *day = view_string(check, "/expected/reviewBy");
		if (rc == 0 && day[0] != '\0' && expectation_day(today) > expectation_day(day))
			rc = faults_add(faults, err, "expired-expectation",
					"%s (%s) was to be looked at again by %s",
					view_string(check, "/expected/entry"),
					view_string(check, "/id"), day);
	}
	return rc;
}

int attest_folder(const char *path, const char *url, const char *today, const struct key *key,
		  cJSON **envelope, struct faults *faults, struct error *err)
{
	struct folder folder CLEANUP_FOLDER = {0};
	cJSON *statement CLEANUP_JSON = NULL;
	int rc = folder_open(path, &folder, faults, err);
	if (rc == 0)
		rc = folder_check(&folder, faults, err);
	if (rc == 0)
		rc = check_expectations(folder.report, today, faults, err);
	if (rc < 0 || faults_count(faults) > 0)
		return rc;
	rc = statement_make(&folder, url, &statement, err);
	char *payload CLEANUP_FREE = rc == 0 ? json_print_compact(statement) : NULL;
	if (rc == 0)
		rc = payload != NULL ? dsse_sign(STATEMENT_PAYLOAD_TYPE, payload, strlen(payload),
						 key, envelope, err)
				     : error_memory(err);
	return rc;
}

/* What was signed, when it is by the key: into *statement. */
static int open_payload(const struct dsse *dsse, cJSON **statement, struct faults *faults,
			struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	struct error why = {0};
	int rc = strcmp(dsse->type, STATEMENT_PAYLOAD_TYPE) == 0
			 ? json_parse_strict(dsse->payload, dsse->size, &json, &why)
			 : error_set(&why, ERROR_FORMAT, "its type is '%.128s', not %s", dsse->type,
				     STATEMENT_PAYLOAD_TYPE);
	if (rc == 0)
		rc = statement_check(json, &why);
	if (rc < 0)
		return faults_take(faults, &why, "broken-payload",
				   "what was signed is not a statement about test results", err);
	*statement = STEAL(json);
	return 0;
}

static int open_envelope(const char *data, size_t size, const struct key *key, cJSON **statement,
			 struct faults *faults, struct error *err)
{
	cJSON *envelope CLEANUP_JSON = NULL;
	struct dsse dsse CLEANUP_DSSE = {0};
	struct error why = {0};
	int rc = json_parse_strict(data, size, &envelope, &why);
	if (rc == 0)
		rc = dsse_open(envelope, key, &dsse, &why);
	if (rc < 0)
		return faults_take(faults, &why, "broken-envelope",
				   "the attestation is not a DSSE envelope", err);
	if (dsse.trust == DSSE_TRUSTED)
		return open_payload(&dsse, statement, faults, err);
	if (dsse.trust == DSSE_OTHER_KEY)
		return faults_add(faults, err, "wrong-key",
				  "it was signed with the key %.64s, not with %s", dsse.keyid,
				  key->id);
	return faults_add(faults, err, "bad-signature",
			  "no signature is by the key %s: payload or signature were changed, or "
			  "another key signed",
			  key->id);
}

static int read_attestation(const struct folder *folder, const struct attest_trust *trust,
			    cJSON **statement, struct faults *faults, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	struct error why = {0};
	size_t size = 0;
	int rc = trust->attestation != NULL ? file_read_regular(trust->attestation, true,
								DSSE_FILE_MAX, &data, &size, &why)
					    : report_read_file(folder->path, ATTESTATION_FILE_NAME,
							       DSSE_FILE_MAX, &data, &size, &why);
	if (rc == ERROR_NOT_FOUND)
		return faults_add(faults, err, "missing-file", "%s is missing",
				  trust->attestation != NULL ? trust->attestation
							     : ATTESTATION_FILE_NAME);
	if (rc < 0)
		return faults_take(faults, &why, "broken-envelope",
				   "the attestation cannot be read", err);
	return open_envelope(data, size, trust->key, statement, faults, err);
}

/* One file of the folder and what was attested of it. */
static int compare_file(struct folder *folder, enum folder_file_name name, const cJSON *statement,
			struct faults *faults, struct error *err)
{
	struct folder_file *file = &folder->files[name];
	char attested[DIGEST_SIZE] = "";
	statement_digest(statement, folder_file_names[name], attested);
	if (file->untrusted || strcmp(file->digest, attested) == 0)
		return 0;
	file->untrusted = true;
	if (file->data == NULL && name <= FOLDER_JOURNAL)
		return 0; /* folder_open() has told */
	if (file->data == NULL)
		return faults_add(faults, err, "missing-file", "%s is missing",
				  folder_file_names[name]);
	if (attested[0] == '\0')
		return faults_add(faults, err, "unattested-file",
				  "%s is not part of the attestation", folder_file_names[name]);
	return faults_add(faults, err, folder_change(name),
			  "%s was changed, or is of another run: it is %s, and %s was attested",
			  folder_file_names[name], file->digest, attested);
}

/* The statement says of the report what this gpucert would say. */
static int compare_statements(const cJSON *statement, const cJSON *made, struct faults *faults,
			      struct error *err)
{
	static const char *const told[] = {"/predicate/result", "/predicate/passedTests",
					   "/predicate/warnedTests", "/predicate/failedTests"};
	int rc = 0;
	if (!cJSON_Compare(json_pointer(statement, "/subject"), json_pointer(made, "/subject"),
			   true))
		rc = faults_add(
			faults, err, "subject-mismatch",
			"the subjects are not the plugin, drivers and images of the report");
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(told); i++) {
		if (!cJSON_Compare(json_pointer(statement, told[i]), json_pointer(made, told[i]),
				   true))
			rc = faults_add(faults, err, "result-mismatch",
					"%s is not what the report says", told[i]);
	}
	return rc;
}

static int compare_report(const struct folder *folder, const cJSON *statement,
			  struct faults *faults, struct error *err)
{
	cJSON *made CLEANUP_JSON = NULL;
	char attested[DIGEST_SIZE] = "", evidence[DIGEST_SIZE] = "";
	struct error why = {0};
	size_t count = 0;
	if (!folder_is_sound(folder) || folder->files[FOLDER_CLAIMS].untrusted)
		return 0;
	int rc = statement_make(folder, NULL, &made, &why);
	if (rc < 0)
		return faults_take(faults, &why,
				   rc == ERROR_NOT_FOUND ? "subject-mismatch" : "claims",
				   "the report cannot be attested", err);
	rc = compare_statements(statement, made, faults, err);
	if (rc == 0)
		rc = folder_evidence_digest(folder, evidence, &count, err);
	statement_digest(statement, "evidence", attested);
	if (rc == 0 && strcmp(attested, evidence) != 0)
		rc = faults_add(faults, err, "changed-evidence",
				"the list of evidence is not the one that was attested");
	return rc;
}

/* Files that somebody holds, and wants to know whether the attestation is about them. */
static int check_subjects(const struct text_list *files, const cJSON *statement,
			  struct faults *faults, struct error *err)
{
	int rc = 0;
	text_each (file, files) {
		char digest[DIGEST_SIZE] = "";
		if (rc == 0)
			rc = digest_file(file, digest, NULL, err);
		if (rc == 0 && !statement_has_subject(statement, digest))
			rc = faults_add(faults, err, "subject-mismatch",
					"%s (%s) is not among what was tested", file, digest);
	}
	return rc;
}

int attest_verify(struct folder *folder, const struct attest_trust *trust, cJSON **statement,
		  struct faults *faults, struct error *err)
{
	int rc = read_attestation(folder, trust, statement, faults, err);
	for (enum folder_file_name name = 0;
	     rc == 0 && *statement != NULL && name < FOLDER_FILE_COUNT; name++)
		rc = compare_file(folder, name, *statement, faults, err);
	if (rc == 0)
		rc = folder_check(folder, faults, err);
	if (rc == 0 && *statement != NULL)
		rc = compare_report(folder, *statement, faults, err);
	if (rc == 0)
		rc = check_expectations(folder->report, trust->today, faults, err);
	if (rc == 0 && trust->subjects != NULL && *statement != NULL)
		rc = check_subjects(trust->subjects, *statement, faults, err);
	return rc;
}
