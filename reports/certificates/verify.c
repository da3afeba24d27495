/* SPDX-License-Identifier: MIT */
#include "reports/certificates/verify.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "reports/certificates/dsse.h"
#include "reports/certificates/statement.h"
#include "reports/expect/expectations.h"
#include "reports/render.h"
#include "reports/view.h"

#include <string.h>

/* The rows of expectations that changed a check's disposition. */
static void check_expectations(const cJSON *report, const char *today, struct faults *faults)
{
	json_each (check, json_pointer(report, "/checks")) {
		const char *day = view_string(check, "/expected/reviewBy");
		if (day[0] != '\0' && expectation_day(today) > expectation_day(day))
			faults_add(faults, "expired-expectation",
				   "%s (%s) was to be reviewed by %s",
				   view_string(check, "/expected/entry"), view_string(check, "/id"),
				   day);
	}
}

int attest_folder(const char *path, const char *url, const char *today, const struct key *key,
		  cJSON **envelope, struct faults *faults, struct error *err)
{
	struct folder folder CLEANUP_FOLDER = {0};
	cJSON *statement CLEANUP_JSON = NULL;
	int rc = folder_open(path, &folder, faults, err);
	if (rc == 0)
		folder_check(&folder, faults);
	folder_read_papers(&folder, faults);
	check_expectations(folder.report, today, faults);
	if (rc < 0 || faults_count(faults) > 0)
		return rc;
	rc = statement_make(&folder, url, &statement, err);
	if (rc < 0)
		return rc;
	char *payload CLEANUP_FREE = json_print_compact(statement);
	*envelope = dsse_sign(STATEMENT_PAYLOAD_TYPE, payload, strlen(payload), key);
	return 0;
}

/* Reads the signed statement into *statement if the key signed it. */
static void read_attestation(const struct folder *folder, const struct attest_trust *trust,
			     cJSON **statement, struct faults *faults)
{
	const char *path = trust->attestation;
	char *data CLEANUP_FREE = NULL;
	cJSON *envelope CLEANUP_JSON = NULL;
	cJSON *json CLEANUP_JSON = NULL;
	struct dsse dsse CLEANUP_DSSE = {0};
	struct error why = {0};
	size_t size = 0;
	int rc = path != NULL ? file_read_regular(path, true, DSSE_FILE_MAX, &data, &size, &why)
			      : report_read_file(folder->path, ATTESTATION_FILE_NAME, DSSE_FILE_MAX,
						 &data, &size, &why);
	if (rc == ERROR_NOT_FOUND)
		faults_add(faults, "missing-file", "%s is missing",
			   path != NULL ? path : ATTESTATION_FILE_NAME);
	else if (rc < 0)
		faults_take(faults, &why, "broken-envelope", "the attestation cannot be read");
	if (rc < 0)
		return;

	rc = json_parse_strict(data, size, &envelope, &why);
	if (rc == 0)
		rc = dsse_open(envelope, trust->key, &dsse, &why);
	if (rc < 0)
		faults_take(faults, &why, "broken-envelope",
			    "the attestation is not a DSSE envelope");
	else if (dsse.trust == DSSE_OTHER_KEY)
		faults_add(faults, "wrong-key", "it was signed with the key %.64s, not with %s",
			   dsse.keyid, trust->key->id);
	else if (dsse.trust != DSSE_TRUSTED)
		faults_add(faults, "bad-signature",
			   "no signature is by the key %s: payload or signature were changed, or "
			   "another key signed",
			   trust->key->id);
	if (rc < 0 || dsse.trust != DSSE_TRUSTED)
		return;

	rc = text_equal(dsse.type, STATEMENT_PAYLOAD_TYPE)
		     ? json_parse_strict(dsse.payload, dsse.size, &json, &why)
		     : error_set(&why, ERROR_FORMAT, "its type is '%.128s', not %s", dsse.type,
				 STATEMENT_PAYLOAD_TYPE);
	if (rc == 0)
		rc = statement_check(json, &why);
	if (rc == 0)
		*statement = STEAL(json);
	else
		faults_take(faults, &why, "broken-payload",
			    "what was signed is not a statement about test results");
}

/* Compares one file of the folder with the attestation. */
static void compare_file(struct folder *folder, enum folder_file_name name, const cJSON *statement,
			 struct faults *faults)
{
	const char *title = folder_file_names[name];
	struct folder_file *file = &folder->files[name];
	char attested[DIGEST_SIZE] = "";
	statement_digest(statement, title, attested);
	if (file->untrusted || text_equal(file->digest, attested))
		return;
	file->untrusted = true;
	if (file->data != NULL && attested[0] == '\0')
		faults_add(faults, "unattested-file", "%s is not part of the attestation", title);
	else if (file->data != NULL)
		faults_add(
			faults, folder_change(name),
			"%s was changed, or belongs to another run: it is %s, and %s was attested",
			title, file->digest, attested);
	else if (name > FOLDER_JOURNAL) /* folder_open() has reported the others */
		faults_add(faults, "missing-file", "%s is missing", title);
}

/* Checks that the statement says about the report what this gpucert would say. */
static void compare_report(const struct folder *folder, const cJSON *statement,
			   struct faults *faults)
{
	static const char *const results[] = {"/predicate/result", "/predicate/passedTests",
					      "/predicate/warnedTests", "/predicate/failedTests"};
	cJSON *made CLEANUP_JSON = NULL;
	char attested[DIGEST_SIZE] = "", evidence[DIGEST_SIZE] = "";
	struct error why = {0};
	if (!folder_is_sound(folder) || folder->files[FOLDER_CLAIMS].untrusted)
		return;
	if (statement_make(folder, NULL, &made, &why) < 0) {
		faults_take(faults, &why, "subject-mismatch", "the report cannot be attested");
		return;
	}
	if (!cJSON_Compare(json_pointer(statement, "/subject"), json_pointer(made, "/subject"),
			   true))
		faults_add(faults, "subject-mismatch",
			   "the subjects are not the plugin, drivers and images of the report");
	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		if (!cJSON_Compare(json_pointer(statement, results[i]),
				   json_pointer(made, results[i]), true))
			faults_add(faults, "result-mismatch", "%s is not what the report says",
				   results[i]);
	}
	statement_digest(statement, "evidence", attested);
	statement_digest(made, "evidence", evidence);
	if (!text_equal(attested, evidence))
		faults_add(faults, "changed-evidence",
			   "the list of evidence is not the one that was attested");
}

int attest_verify(struct folder *folder, const struct attest_trust *trust, cJSON **statement,
		  struct faults *faults, struct error *err)
{
	read_attestation(folder, trust, statement, faults);
	for (enum folder_file_name name = 0; *statement != NULL && name < FOLDER_FILE_COUNT; name++)
		compare_file(folder, name, *statement, faults);
	folder_read_papers(folder, faults);
	folder_check(folder, faults);
	if (*statement != NULL)
		compare_report(folder, *statement, faults);
	check_expectations(folder->report, trust->today, faults);

	/* The user's files: is the attestation about them? */
	for (size_t i = 0;
	     trust->subjects != NULL && *statement != NULL && i < trust->subjects->count; i++) {
		const char *file = trust->subjects->items[i];
		char digest[DIGEST_SIZE] = "";
		int rc = digest_file(file, digest, NULL, err);
		if (rc < 0)
			return rc;
		if (!statement_has_subject(*statement, digest))
			faults_add(faults, "subject-mismatch",
				   "%s (%s) is not among what was tested", file, digest);
	}
	return 0;
}
