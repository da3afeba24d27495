/* SPDX-License-Identifier: MIT */
/* `verify`: is a report what somebody attested? */
#include "base/cleanup.h"
#include "base/clock.h"
#include "conformance/cli/attest_output.h"
#include "conformance/cli/commands.h"
#include "reports/certificates/verify.h"
#include "reports/view.h"

static struct {
	const char *key, *attestation;
	struct text_list subjects;
	bool json;
} given;

static int verify_run(const struct text_list *arguments)
{
	struct faults faults CLEANUP_FAULTS = {0};
	struct key key CLEANUP_KEY = {0};
	struct text text CLEANUP_TEXT = {0};
	cJSON *statement CLEANUP_JSON = NULL;
	struct error err = {0};
	struct folder folder CLEANUP_FOLDER = {0};
	struct text conformance CLEANUP_TEXT = {0};
	char today[CLOCK_UTC_SIZE] = "";
	const struct attest_trust trust = {
		.key = &key,
		.attestation = given.attestation,
		.subjects = &given.subjects,
		.today = clock_utc(today),
	};
	int rc = attest_key(given.key, KEY_PUBLIC, &key, &err);
	if (rc == 0)
		rc = folder_open(arguments->items[0], &folder, &faults, &err);
	if (rc == 0)
		rc = attest_verify(&folder, &trust, &statement, &faults, &err);
	if (rc == 0) {
		text_addf(
			&text,
			"verified: report, journal and evidence are what %s attested\nresult %s, ",
			key.id, view_string(statement, "/predicate/result"));
		view_add_conformance(folder.report, &conformance);
		text_add_escaped(&text, text_string(&conformance), conformance.size);
		text_add(&text, "\n");
	}
	text_list_free(&given.subjects);
	if (rc < 0)
		return command_failed("verify", rc, &err);
	return attest_print("verify", given.json, text_string(&text), key.id, NULL, statement,
			    &faults, &err);
}

static const struct option_spec verify_options[] = {
	{OPTION_ROW("key", OPTION_STRING, given.key), .letter = 'k', .value = "FILE",
	 .help = "The public key of whoever attested the report. Required."},
	{OPTION_ROW("attestation", OPTION_STRING, given.attestation), .letter = 'a',
	 .value = "FILE",
	 .help = "The attestation. Default: attestation.json in the report's folder."},
	{OPTION_ROW("subject", OPTION_LIST, given.subjects), .letter = 's', .value = "FILE",
	 .help = "A file that must be one of the tested ones, such as the plugin to deploy."},
	{OPTION_ROW("json", OPTION_FLAG, given.json),
	 .help = "Print as JSON, faults included, each with a word."},
	{0},
};

const struct command_spec command_verify = {
	.name = "verify",
	.summary = "Verify a report against its attestation",
	.arguments = "DIR",
	.description =
		"Needs only the report's folder and the public key. Each fault is a line on standard "
		"error that begins with one of these words: wrong-key, bad-signature, "
		"broken-envelope, broken-payload, missing-file, tampered-report, tampered-journal, "
		"broken-journal, report-not-of-journal, missing-evidence, changed-evidence, "
		"changed-file, unattested-file, unreadable-file, subject-mismatch, result-mismatch, "
		"expired-expectation, symbolic-link, claims, product (docs/attestation.md).\n\nThe "
		"report of a failed run verifies as well: the result is printed.",
	.options = verify_options,
	.examples = TEXTS(
		"gpucert verify gpucert-report --key vendor.key.pub",
		"Check that a report, its journal and its evidence are what the vendor attested.",
		"gpucert verify gpucert-report --key vendor.key.pub --subject ./device-plugin-gpu",
		"Also check that it is about this plugin."),
	.exit_codes = TEXTS("0", "it matches its attestation", "1", "it does not", "2", "usage",
			    "3", "folder, key or another file cannot be read"),
	.run = verify_run,
};
