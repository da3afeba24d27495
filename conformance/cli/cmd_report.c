/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/path.h"
#include "base/style.h"
#include "conformance/cli/commands.h"
#include "reports/journal.h"
#include "reports/render.h"
#include "reports/verify.h"
#include "reports/writer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	const char *format;
	const char *out_directory;
	bool reproducible;
} report = {.format = "summary"};

static const char *const formats[] = {"summary", "json", "junit", NULL};

/* A report that leaves out what differs between runs never takes the place of a run's own. */
static int report_write(const cJSON *json, struct error *err)
{
	char *journal CLEANUP_FREE = path_join(report.out_directory, JOURNAL_FILE_NAME);
	int rc = journal != NULL ? 0 : error_memory(err);

	if (rc == 0 && report.reproducible && file_exists(journal))
		return error_set(
			err, ERROR_EXISTS,
			"--out: %s is the folder of a run, whose own report is not replaced "
			"by a reproducible one",
			report.out_directory);
	rc = rc == 0 ? file_make_directories(report.out_directory, 0755, err) : rc;
	return rc == 0 ? report_write_directory(report.out_directory, json, err) : rc;
}

static int report_print(const char *directory, const cJSON *json, struct error *err)
{
	struct writer_options options = {
		.color = style_enabled(STDOUT_FILENO),
		.columns = isatty(STDOUT_FILENO) == 1 ? style_columns(STDOUT_FILENO) : 0,
		.location = directory,
	};
	const struct writer *writer = NULL;
	char *text CLEANUP_FREE = NULL;
	int rc = writer_find(report.format, &writer, err);

	rc = rc == 0 ? writer_print(writer, json, &options, &text, err) : rc;
	if (rc == 0)
		(void)fputs(text, stdout);
	return rc;
}

/* Each piece of evidence that is not what the run stored is told; the report is printed all the
 * same. */
static int report_verify(const char *directory, const cJSON *json, struct error *err)
{
	struct text_list faults CLEANUP_TEXT_LIST = {0};
	int rc = verify_evidence(directory, json, &faults, err);

	for (size_t i = 0; rc == 0 && i < faults.count; i++) {
		struct text line CLEANUP_TEXT = {0};

		text_add_escaped(&line, faults.items[i], strlen(faults.items[i]));
		(void)fprintf(stderr, "gpucert report: %s\n", text_string(&line));
	}
	if (rc == 0 && faults.count != 0)
		rc = error_set(err, ERROR_FORMAT,
			       "%zu piece%s of evidence %s not what the run stored", faults.count,
			       faults.count == 1 ? "" : "s", faults.count == 1 ? "is" : "are");
	return rc;
}

static int report_make(const char *directory, struct error *err)
{
	struct report_options options = {.reproducible = report.reproducible};
	struct report_options whole = {0};
	cJSON *json CLEANUP_JSON = NULL;
	cJSON *original CLEANUP_JSON = NULL;
	int rc = report_read_directory(directory, &options, &json, err);

	rc = rc == 0 && report.out_directory != NULL ? report_write(json, err) : rc;
	rc = rc == 0 ? report_print(directory, json, err) : rc;
	rc = rc == 0 ? report_read_directory(directory, &whole, &original, err) : rc;
	return rc == 0 ? report_verify(directory, original, err) : rc;
}

static int report_run(const struct text_list *arguments)
{
	struct error err = {0};

	if (arguments->count != 1) {
		(void)fprintf(stderr,
			      "gpucert report: name the folder of one run (--out of 'run')\n");
		return 2;
	}
	if (report_make(arguments->items[0], &err) < 0) {
		(void)fprintf(stderr, "gpucert report: %s\n", err.text);
		return 3;
	}
	return 0;
}

static const struct option_spec report_options[] = {
	{.name = "format",
	 .letter = 'f',
	 .type = OPTION_CHOICE,
	 .target = &report.format,
	 .value = "FORMAT",
	 .help = "What to print.",
	 .choices = formats},
	{.name = "reproducible",
	 .type = OPTION_FLAG,
	 .target = &report.reproducible,
	 .help = "Zero what differs from run to run."},
	{.name = "out",
	 .letter = 'o',
	 .type = OPTION_STRING,
	 .target = &report.out_directory,
	 .value = "DIR",
	 .help = "Also write report.json and junit.xml into this folder, which may be that of the "
		 "run."},
	{.name = NULL},
};

static const char *const report_examples[] = {
	"gpucert report gpucert-report",
	"Print the summary of a run, also of one that was killed.",
	"gpucert report --format junit gpucert-report",
	"Print the same as JUnit XML.",
	"gpucert report --out gpucert-report gpucert-report",
	"Write report.json and junit.xml again, for a run that was killed before it could.",
	NULL,
};

static const char *const report_exit_codes[] = {
	"0",
	"done, whatever the report says",
	"2",
	"usage",
	"3",
	"the journal cannot be read or was changed after the run, evidence is not what the "
	"run stored, or the report cannot be written",
	NULL,
};

const struct command_spec command_report = {
	.name = "report",
	.summary = "Make the report of a run again from its journal, and print it",
	.arguments = "DIR",
	.description =
		"Reads DIR/journal.ndjson and prints the report. It is a function of the journal, "
		"so that of a run that was killed can be made at any time. Says when the journal "
		"or a piece of evidence is not what the run wrote.",
	.options = report_options,
	.examples = report_examples,
	.exit_codes = report_exit_codes,
	.run = report_run,
};
