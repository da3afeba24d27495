/* SPDX-License-Identifier: MIT */
#include "reports/attest/verify.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/attest/dsse.h"
#include "reports/attest/statement.h"
#include "reports/render.h"
#include "reports/view.h"

#include <string.h>

int attest_folder(const char *path, const char *url, const struct signing_key *key,
		  cJSON **envelope, struct faults *faults, struct error *err)
{
	struct folder folder CLEANUP_FOLDER = {0};
	cJSON *statement CLEANUP_JSON = NULL;
	int rc = folder_open(path, &folder, faults, err);
	if (rc == 0)
		rc = folder_check(&folder, faults, err);
	if (rc == 0 && faults_count(faults) == 0)
		rc = statement_make(&folder, url, &statement, err);
	return rc == 0 && statement != NULL ? statement_sign(statement, key, envelope, err) : rc;
}

static int tell_trust(enum dsse_trust trust, const struct dsse *dsse, const struct public_key *key,
		      struct faults *faults, struct error *err)
{
	if (trust == DSSE_OTHER_KEY)
		return faults_add(faults, err, FAULT_WRONG_KEY,
				  "it was signed with the key %.64s, not with %s",
				  dsse->signatures[0].keyid, key->id);
	return faults_add(faults, err, FAULT_BAD_SIGNATURE,
			  "no signature is by the key %s: payload, signature or keyid were changed",
			  key->id);
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
		return faults_take(faults, &why, FAULT_BROKEN_PAYLOAD,
				   "what was signed is not a statement about test results", err);
	*statement = STEAL(json);
	return 0;
}

static int open_envelope(const char *data, size_t size, const struct public_key *key,
			 cJSON **statement, struct faults *faults, struct error *err)
{
	cJSON *envelope CLEANUP_JSON = NULL;
	struct dsse dsse CLEANUP_DSSE = {0};
	enum dsse_trust trust = DSSE_OTHER_KEY;
	struct error why = {0};
	int rc = json_parse_strict(data, size, &envelope, &why);
	if (rc == 0)
		rc = dsse_parse(envelope, &dsse, &why);
	if (rc < 0)
		return faults_take(faults, &why, FAULT_BROKEN_ENVELOPE,
				   "the attestation is not a DSSE envelope", err);
	rc = dsse_verify(&dsse, key, &trust, err);
	if (rc < 0)
		return rc;
	return trust == DSSE_TRUSTED ? open_payload(&dsse, statement, faults, err)
				     : tell_trust(trust, &dsse, key, faults, err);
}

static int read_attestation(const struct folder *folder, const struct attest_trust *trust,
			    cJSON **statement, struct faults *faults, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	struct error why = {0};
	size_t size = 0;
	int rc = trust->attestation != NULL
			 ? file_read(trust->attestation, DSSE_FILE_MAX, &data, &size, &why)
			 : report_read_file(folder->path, ATTESTATION_FILE_NAME, DSSE_FILE_MAX,
					    &data, &size, &why);
	if (rc == ERROR_NOT_FOUND)
		return faults_add(faults, err, FAULT_MISSING_FILE, "%s is missing",
				  trust->attestation != NULL ? trust->attestation
							     : ATTESTATION_FILE_NAME);
	if (rc < 0)
		return faults_take(faults, &why, FAULT_BROKEN_ENVELOPE,
				   "the attestation cannot be read", err);
	return open_envelope(data, size, trust->key, statement, faults, err);
}

/* One file of the folder and what was attested of it. */
static int compare_file(struct folder *folder, enum folder_file_name name, const cJSON *statement,
			struct faults *faults, struct error *err)
{
	static const enum fault_kind kinds[] = {
		[FOLDER_REPORT] = FAULT_TAMPERED_REPORT, [FOLDER_JOURNAL] = FAULT_TAMPERED_JOURNAL};
	struct folder_file *file = &folder->files[name];
	char attested[DIGEST_SIZE] = "";
	statement_digest(statement, folder_file_names[name], attested);
	if (file->untrusted || strcmp(file->digest, attested) == 0)
		return 0;
	file->untrusted = true;
	if (file->data == NULL) /* which folder_open() has told of a report and a journal */
		return name <= FOLDER_JOURNAL
			       ? 0
			       : faults_add(faults, err, FAULT_MISSING_FILE, "%s is missing",
					    folder_file_names[name]);
	if (attested[0] == '\0')
		return faults_add(faults, err, FAULT_UNATTESTED_FILE,
				  "%s is not part of the attestation", folder_file_names[name]);
	return faults_add(faults, err, name <= FOLDER_JOURNAL ? kinds[name] : FAULT_CHANGED_FILE,
			  "%s was changed: it is %s, and %s was attested", folder_file_names[name],
			  file->digest, attested);
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
			faults, err, FAULT_SUBJECT_MISMATCH,
			"the subjects are not the plugin, drivers and images of the report");
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(told); i++) {
		if (!cJSON_Compare(json_pointer(statement, told[i]), json_pointer(made, told[i]),
				   true))
			rc = faults_add(faults, err, FAULT_RESULT_MISMATCH,
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
	if (rc == ERROR_MEMORY)
		return error_memory(err);
	if (rc < 0)
		return faults_add(faults, err,
				  rc == ERROR_NOT_FOUND ? FAULT_SUBJECT_MISMATCH : FAULT_CLAIMS,
				  "%s", why.text);
	rc = compare_statements(statement, made, faults, err);
	if (rc == 0)
		rc = folder_evidence_digest(folder, evidence, &count, err);
	statement_digest(statement, "evidence", attested);
	if (rc == 0 && strcmp(attested, evidence) != 0)
		rc = faults_add(faults, err, FAULT_CHANGED_EVIDENCE,
				"the list of evidence is not the one that was attested");
	return rc;
}

static const struct expectation *find_row(const struct expectations *expectations,
					  const char *entry, const char *check)
{
	for (size_t i = 0; i < expectations->count; i++) {
		if (strcmp(expectations->rows[i].entry, entry) == 0 &&
		    strcmp(expectations->rows[i].check, check) == 0)
			return &expectations->rows[i];
	}
	return NULL;
}

/* The rows that changed what follows from a check's outcome. */
static int check_expectations(const struct folder *folder, const struct attest_trust *trust,
			      struct faults *faults, struct error *err)
{
	int rc = 0;
	json_each (check, json_pointer(folder->report, "/checks")) {
		const char *entry = json_pointer_string(check, "/expected/entry");
		const char *id = view_string(check, "/id");
		if (rc < 0 || entry == NULL)
			continue;
		const struct expectation *row = find_row(trust->expectations, entry, id);
		if (row == NULL)
			rc = faults_add(faults, err, FAULT_UNKNOWN_EXPECTATION,
					"%s (%s) is not in the files of --expect", entry, id);
		else if (expectation_overdue(row, trust->today) > 0)
			rc = faults_add(faults, err, FAULT_EXPIRED_EXPECTATION,
					"%s (%s) was to be looked at again by %s", entry, id,
					row->review_by);
	}
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
			rc = faults_add(faults, err, FAULT_SUBJECT_MISMATCH,
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
	if (rc == 0 && trust->expectations != NULL)
		rc = check_expectations(folder, trust, faults, err);
	if (rc == 0 && trust->subjects != NULL && *statement != NULL)
		rc = check_subjects(trust->subjects, *statement, faults, err);
	return rc;
}
