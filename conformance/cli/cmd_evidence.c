/* SPDX-License-Identifier: MIT */
/* `evidence`: pages for the AI conformance programme. */
#include "base/cleanup.h"
#include "conformance/cli/commands.h"
#include "reports/fleet/fleet.h"
#include "reports/journal.h"
#include "reports/render.h"

#include <stdio.h>

static const char *out_directory = "gpucert-evidence";

static int evidence_run(const struct text_list *arguments)
{
	struct text_list faults CLEANUP_TEXT_LIST = {0};
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	struct text refusal CLEANUP_TEXT = {0};
	cJSON *report CLEANUP_JSON = NULL;
	struct text out CLEANUP_TEXT = {0};
	const char *directory = arguments->items[0];
	struct error err = {0};
	/* A report.json that somebody changed proves nothing: the report is made from the journal. */
	int rc = report_read_directory(directory, &report, &err);
	if (rc == 0)
		report_verify_evidence(directory, report, &faults);
	if (rc == 0 && faults.count > 0)
		rc = error_set(&err, ERROR_FORMAT, "%s: %s", directory, faults.items[0]);
	if (rc == 0)
		rc = fleet_evidence_write(report, out_directory, &lines, &err);
	text_each (line, &lines)
		text_add_line(&out, "%s", line);
	if (rc == 0)
		rc = options_print(text_take(&out), &err);
	if (rc < 0)
		return command_failed("evidence", rc, &err);
	fleet_add_refusal(report, &refusal);
	if (refusal.size == 0)
		return EXIT_SUCCESS;
	text_add(&refusal, "; nothing is called implemented");
	command_print("evidence", text_string(&refusal));
	return REPORT_EXIT_UNEXPECTED;
}

static const struct option_spec evidence_options[] = {
	{OPTION_ROW("out", OPTION_STRING, out_directory), .letter = 'o', .value = "DIR",
	 .help = "Folder for the pages; those of an earlier run in it are replaced."},
	{0},
};

const struct command_spec command_evidence = {
	.name = "evidence",
	.summary = "Write evidence for the Kubernetes AI Conformance programme",
	.arguments = "DIR",
	.description =
		"Makes the report of a run's folder again, verifies the evidence, and writes a page for "
		"each requirement of the programme that gpucert tests (KAR-0049, 0001, 0003 and "
		"0004), the report, and PRODUCT-fragment.yaml for the submission's PRODUCT.yaml. Only a "
		"complete and conformant run on a live node with an accelerator implements anything; "
		"a requirement that was not tested is not in the fragment.",
	.options = evidence_options,
	.exit_codes = TEXTS("0", "done", "1", "the run proves nothing: the pages say why", "2",
			    "usage", "3", "the run's folder cannot be read"),
	.run = evidence_run,
};
