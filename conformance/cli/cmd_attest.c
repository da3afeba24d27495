/* SPDX-License-Identifier: MIT */
/* `attest`: signs what a run found. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "conformance/cli/attest_output.h"
#include "conformance/cli/commands.h"
#include "reports/certificates/verify.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
	const char *key, *output, *url;
} given;

static int attest_run(const struct text_list *arguments)
{
	struct faults faults CLEANUP_FAULTS = {0};
	struct error err = {0};
	struct key key CLEANUP_KEY = {0};
	cJSON *envelope CLEANUP_JSON = NULL;
	char *in_folder CLEANUP_FREE = path_join(arguments->items[0], ATTESTATION_FILE_NAME);
	char today[CLOCK_UTC_SIZE] = "";
	const char *output = given.output != NULL ? given.output : in_folder;
	int rc = attest_key(given.key, KEY_PRIVATE, &key, &err);
	if (rc == 0)
		rc = attest_folder(arguments->items[0], given.url, clock_utc(today), &key,
				   &envelope, &faults, &err);
	if (rc == 0 && envelope != NULL) {
		rc = json_write_file(output, envelope, &err);
		if (rc == 0)
			(void)printf("%s signed with %s\n", output, key.id);
	}
	return rc < 0 ? command_failed("attest", rc, &err) : attest_print_faults("attest", &faults);
}

static const struct option_spec attest_options[] = {
	{OPTION_ROW("key", OPTION_STRING, given.key), .letter = 'k', .value = "FILE",
	 .help = "The private key to sign with. Required."},
	{OPTION_ROW("out", OPTION_STRING, given.output), .letter = 'o', .value = "FILE",
	 .help = "The file to write. Default: attestation.json in the report's folder."},
	{OPTION_ROW("url", OPTION_STRING, given.url), .value = "URL",
	 .help = "A page about the run, such as a job of a CI system; becomes part of the attestation."},
	{0},
};

const struct command_spec command_attest = {
	.name = "attest",
	.summary = "Sign a report: what was tested, by digest, and how it ended",
	.arguments = "DIR",
	.description =
		"Writes an in-toto statement with the predicate test-result as a DSSE envelope "
		"(docs/attestation.md). Its subjects are the digests of plugin, drivers and images; "
		"it holds the digests of report.json, journal.ndjson, all evidence, and of "
		"junit.xml, claims.json and product.yaml if DIR has them.\n\nA folder whose report "
		"does not match its journal, or whose evidence is missing or was changed, is not "
		"signed. A run that is not conformant is signed with the result FAILED.",
	.options = attest_options,
	.examples = TEXTS("gpucert attest gpucert-report --key vendor.key",
			  "Sign the report of a run, its journal and its evidence.",
			  "gpucert verify gpucert-report --key vendor.key.pub",
			  "Verify it with the public key, as anybody can."),
	.exit_codes =
		TEXTS("0", "signed", "1",
		      "not signed: the folder was changed after the run, or an expectation expired",
		      "2", "usage", "3", "a file cannot be read or written, or the key is not one"),
	.run = attest_run,
};
