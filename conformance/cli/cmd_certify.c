/* SPDX-License-Identifier: MIT */
/* `certify`: the folder that a vendor publishes. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "conformance/cli/attest_output.h"
#include "conformance/cli/commands.h"
#include "reports/certificates/certify.h"
#include "reports/render.h"
#include "reports/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const char *key, *product, *claims, *output;
	bool json;
} given;

static int build_run(const struct text_list *arguments)
{
	struct faults faults CLEANUP_FAULTS = {0};
	struct text_list subject CLEANUP_TEXT_LIST = {0};
	cJSON *report CLEANUP_JSON = NULL;
	struct error err = {0};
	struct key key CLEANUP_KEY = {0};
	char today[CLOCK_UTC_SIZE] = "";
	int rc = attest_key(given.key, KEY_PRIVATE, &key, &err);
	if (rc == 0 && given.product == NULL)
		rc = error_set(&err, ERROR_ARGUMENT,
			       "--product: name the product.yaml of the product");
	if (rc == 0 && given.output == NULL)
		rc = error_set(&err, ERROR_ARGUMENT, "--out: name the folder to make");
	const struct certify_plan plan = {
		.report = arguments->items[0],
		.product = given.product,
		.claims = given.claims,
		.key = &key,
		.out = given.output,
		.today = clock_utc(today),
	};
	if (rc == 0)
		rc = certify_build(&plan, &faults, &err);
	if (rc == 0 && faults_count(&faults) == 0) {
		rc = report_read_directory(given.output, &report, &err);
		if (rc == 0) {
			certify_subject(report, &subject);
			(void)printf("%s: certified\n", given.output);
			text_each (line, &subject)
				(void)printf("%s\n", line);
		}
	}
	if (rc < 0)
		return command_failed("certify build", rc, &err);
	return attest_print_faults("certify build", &faults);
}

static int check_run(const struct text_list *arguments)
{
	struct faults faults CLEANUP_FAULTS = {0};
	struct key key CLEANUP_KEY = {0};
	struct product product CLEANUP_PRODUCT = {0};
	struct text text CLEANUP_TEXT = {0};
	struct text_list subject CLEANUP_TEXT_LIST = {0};
	cJSON *statement CLEANUP_JSON = NULL;
	char today[CLOCK_UTC_SIZE] = "";
	struct error err = {0};
	int rc = attest_key(given.key, KEY_PUBLIC, &key, &err);
	if (rc == 0)
		rc = certify_check(arguments->items[0], &key, clock_utc(today), &product, &subject,
				   &statement, &faults, &err);
	if (rc < 0)
		return command_failed("certify check", rc, &err);

	if (faults_count(&faults) == 0) {
		text_add(&text, "certified: ");
		view_add_escaped(&text, product.name);
		text_add(&text, " ");
		view_add_escaped(&text, product.version);
		text_add(&text, " by ");
		view_add_escaped(&text, product.vendor);
		text_add(&text, "\n");
		text_each (line, &subject)
			text_addf(&text, "%s\n", line);
		text_addf(&text, "result %s, signed with %s\n",
			  view_string(statement, "/predicate/result"), key.id);
	}
	return attest_print("certify check", given.json, text_string(&text), key.id, &subject,
			    statement, &faults, &err);
}

static const struct option_spec build_options[] = {
	{OPTION_ROW("key", OPTION_STRING, given.key), .letter = 'k', .value = "FILE",
	 .help = "The private key to sign with. Required."},
	{OPTION_ROW("product", OPTION_STRING, given.product), .letter = 'p', .value = "FILE",
	 .help = "The product to certify, as YAML. Required."},
	{OPTION_ROW("claims", OPTION_STRING, given.claims), .letter = 'c', .value = "FILE",
	 .help = "Requirements that were not tested, and why. Default: claims.json in the run's "
		 "folder, if it exists."},
	{OPTION_ROW("out", OPTION_STRING, given.output), .letter = 'o', .value = "DIR",
	 .help = "The folder to make. Required."},
	{0},
};

static const struct option_spec check_options[] = {
	{OPTION_ROW("key", OPTION_STRING, given.key), .letter = 'k', .value = "FILE",
	 .help = "The public key of the vendor. Required."},
	{OPTION_ROW("json", OPTION_FLAG, given.json),
	 .help = "Print as JSON, faults included, each with a word."},
	{0},
};

const struct command_spec command_certify_build = {
	.name = "certify build",
	.summary = "Make the folder that certifies a product, from a run",
	.arguments = "DIR",
	.description =
		"The new folder has product.yaml, README.md, report.json, journal.ndjson, junit.xml, "
		"the evidence, claims.json if there are claims, and attestation.json, which covers "
		"all of them (docs/attestation.md).\n\nIt is made only if the product may be called "
		"certified: the run is complete and on a live node, no MUST requirement is violated, "
		"and each that was not tested is claimed with a justification. Otherwise every "
		"reason is printed, and nothing is written.",
	.options = build_options,
	.examples = TEXTS(
		"gpucert certify build gpucert-report --product product.yaml --key vendor.key -o certificate",
		"Make the folder that is published, when everything was tested.",
		"gpucert certify build gpucert-report --product product.yaml --claims claims.json --key "
		"vendor.key -o certificate",
		"The same, with reasons for requirements that were not tested."),
	.exit_codes = TEXTS("0", "made", "1", "not certified; the reasons are printed", "2",
			    "usage", "3", "a file cannot be read or written"),
	.run = build_run,
};

const struct command_spec command_certify_check = {
	.name = "certify check",
	.summary = "Check a folder that certifies a product",
	.arguments = "DIR",
	.description =
		"Checks everything that 'gpucert verify' checks, and: product.yaml is complete, no "
		"file is missing, the folder has no other file and no link, and the run and its "
		"claims allow the word certified today. Each fault is a line on standard error, as "
		"with 'verify', with the additional words unnamed-file and not-certified.",
	.options = check_options,
	.examples = TEXTS("gpucert certify check certificate --key vendor.key.pub",
			  "Check a published folder."),
	.exit_codes = TEXTS("0", "certified", "1", "not certified", "2", "usage", "3",
			    "folder or key cannot be read"),
	.run = check_run,
};
