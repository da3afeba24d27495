/* SPDX-License-Identifier: MIT */
#include "base/style.h"
#include "conformance/cli/commands.h"
#include "reports/render.h"
#include "reports/writer.h"

#include <stdio.h>
#include <unistd.h>

static struct {
	const char *format;
	bool reproducible;
} report = {.format = "summary"};

static const char *const formats[] = {"summary", "json", "junit", NULL};

static int report_print(const char *directory, struct error *err)
{
	struct report_options options = {.reproducible = report.reproducible};
	struct writer_options writer_options = {
		.color = style_enabled(STDOUT_FILENO),
		.columns = isatty(STDOUT_FILENO) == 1 ? style_columns(STDOUT_FILENO) : 0,
		.location = directory,
	};
	const struct writer *writer = NULL;
	cJSON *json CLEANUP_JSON = NULL;
	char *text CLEANUP_FREE = NULL;
	int rc = report_render_directory(directory, &options, &json, err);

	if (rc == 0)
		rc = writer_find(report.format, &writer, err);
	if (rc == 0)
		rc = writer_print(writer, json, &writer_options, &text, err);
	if (rc == 0)
		(void)fputs(text, stdout);
	return rc;
}

static int report_run(const struct text_list *arguments)
{
	struct error err = {0};

	if (arguments->count != 1) {
		(void)fprintf(stderr,
			      "gpucert report: name the folder of one run (--out of 'run')\n");
		return 2;
	}
	if (report_print(arguments->items[0], &err) < 0) {
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
	{.name = NULL},
};

static const char *const report_examples[] = {
	"gpucert report gpucert-report",
	"Print the summary of a run, also of one that was killed.",
	"gpucert report --format junit gpucert-report",
	"Print the same as JUnit XML.",
	NULL,
};

static const char *const report_exit_codes[] = {
	"0",  "done, whatever the report says",
	"2",  "usage",
	"3",  "the journal cannot be read, or the report cannot be written",
	NULL,
};

const struct command_spec command_report = {
	.name = "report",
	.summary = "Make the report of a run again from its journal, and print it",
	.arguments = "DIR",
	.description =
		"Reads DIR/journal.ndjson, writes report.json and junit.xml beside it, and prints "
		"the report. It is a function of the journal, so that of a run that was "
		"killed can be made at any time.",
	.options = report_options,
	.examples = report_examples,
	.exit_codes = report_exit_codes,
	.run = report_run,
};
