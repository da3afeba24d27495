/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/path.h"
#include "conformance/cli/commands.h"
#include "reports/journal.h"
#include "reports/render.h"
#include "reports/writer.h"

#include <string.h>

static struct {
	const char *format;
	const char *out_directory;
	bool reproducible;
} report = {.format = "summary"};

static int make(const char *directory, struct error *err)
{
	struct text_list faults CLEANUP_TEXT_LIST = {0};
	cJSON *json CLEANUP_JSON = NULL;
	int rc = report_read_directory(directory, &json, err);
	if (rc == ERROR_NOT_FOUND || (rc < 0 && !file_is_directory(directory)))
		return error_set(
			err, rc,
			"%s: no journal.ndjson is in it; name the folder of a run (--out of 'run')",
			directory);
	if (rc == 0)
		report_verify_evidence(directory, json, &faults);
	if (rc == 0 && report.reproducible)
		report_make_reproducible(json);
	if (rc == 0 && report.out_directory != NULL) {
		char *journal CLEANUP_FREE = path_join(report.out_directory, JOURNAL_FILE_NAME);
		if (report.reproducible && file_exists(journal))
			return error_set(
				err, ERROR_EXISTS,
				"--out: %s is the folder of a run, whose own report is not replaced "
				"by a reproducible one",
				report.out_directory);
		rc = file_make_directories(report.out_directory, 0755, err);
		if (rc == 0)
			rc = report_write_directory(report.out_directory, json, err);
	}
	if (rc < 0)
		return rc;
	rc = writer_show(report.format, json, directory, err);
	if (rc < 0 && rc != ERROR_IO) /* which options_main() reports */
		return rc;

	text_each (fault, &faults)
		command_print("report", fault);
	if (faults.count == 0)
		return 0;
	return error_set(err, ERROR_FORMAT, "%zu piece%s of evidence %s not what the run stored",
			 faults.count, faults.count == 1 ? "" : "s",
			 faults.count == 1 ? "is" : "are");
}

static int report_run(const struct text_list *arguments)
{
	struct error err = {0};
	if (make(arguments->items[0], &err) < 0)
		return command_failed("report", ERROR_FORMAT, &err);
	return 0;
}

static const struct option_spec report_options[] = {
	{OPTION_ROW("format", OPTION_CHOICE, report.format), .letter = 'f', .value = "FORMAT",
	 .help = "Output format: a summary for a terminal; JSON for programs; JUnit for CI systems; "
		 "Markdown for the page of a CI job; results of a Sonobuoy plugin; a page for a browser.",
	 .choices = writer_names},
	{OPTION_ROW("reproducible", OPTION_FLAG, report.reproducible),
	 .help = "Zero what differs from run to run."},
	{OPTION_ROW("out", OPTION_STRING, report.out_directory), .letter = 'o', .value = "DIR",
	 .help = "Also write report.json, junit.xml, report.md and report.html into this folder, which may be "
		 "that of the run."},
	{0},
};

const struct command_spec command_report = {
	.name = "report",
	.summary = "Make the report of a run again from its journal, and print it",
	.arguments = "DIR",
	.description =
		"Reads DIR/journal.ndjson and prints the report. The report is a function of the "
		"journal, so it can be made at any time, also for a run that was killed. Reports "
		"when the journal or a piece of evidence was changed after the run.",
	.options = report_options,
	.examples = TEXTS(
		"gpucert report gpucert-report",
		"Print the summary of a run, also of one that was killed.",
		"gpucert report --format junit gpucert-report", "Print the same as JUnit XML.",
		"gpucert report --out gpucert-report gpucert-report",
		"Write the files of the report again, for a run that was killed before it could."),
	.exit_codes = EXIT_CODES(
		"done, also when the run failed",
		"the journal cannot be read, journal or evidence was changed after the run, or the "
		"report cannot be written"),
	.run = report_run,
};
