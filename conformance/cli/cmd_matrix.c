/* SPDX-License-Identifier: MIT */
/* `matrix`: many reports as one table. */
#include "base/cleanup.h"
#include "base/style.h"
#include "conformance/cli/commands.h"
#include "reports/pages/matrix/matrix.h"
#include "reports/report_files.h"

#include <stdio.h>
#include <unistd.h>

enum { PROGRESS_EVERY = 100 };

static struct {
	const char *format;
	bool apis, failed;
} given = {.format = "text"};

static void show_progress(size_t done, size_t all)
{
	if (done % PROGRESS_EVERY == 0)
		(void)fprintf(stderr, "\r%zu of %zu reports", done, all);
}

static int matrix_run(const struct text_list *arguments)
{
	const struct writer_options options = writer_options_of_stdout();
	struct matrix matrix CLEANUP_MATRIX = {0};
	struct text_list unread CLEANUP_TEXT_LIST = {0};
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	const bool shown = style_enabled(STDERR_FILENO);
	const struct report_files files = {.without = matrix_unneeded,
					   .use = matrix_add,
					   .progress = shown ? show_progress : NULL,
					   .user = &matrix};
	int rc = report_files_read(arguments, &files, &unread, &err);
	if (shown)
		(void)fprintf(stderr, "\r\033[K");
	if (rc == 0 && matrix.report_count > 0) {
		matrix_sort(&matrix);
		matrix_keep(&matrix, given.apis, given.failed);
		matrix_print(&matrix, given.format, &options, &unread, &out);
		rc = options_print(text_take(&out), &err);
	}
	text_each (line, &unread)
		command_print("matrix", line);
	if (rc == 0 && unread.count > 0)
		rc = error_set(&err, ERROR_FORMAT, "%zu of %zu files could not be read",
			       unread.count, unread.count + matrix.report_count + matrix.repeated);
	return command_end("matrix", rc, &err);
}

static const struct option_spec matrix_options[] = {
	{OPTION_ROW("format", OPTION_CHOICE, given.format), .letter = 'f', .value = "FORMAT",
	 .help = "Output format. csv has a line for each check and column; json: matrix.schema.json; "
		 "html: a page whose links are relative to the working directory, so store it there.",
	 .choices = matrix_formats},
	{OPTION_ROW("apis", OPTION_FLAG, given.apis), .help = "Show only the checks of APIs."},
	{OPTION_ROW("failed", OPTION_FLAG, given.failed),
	 .help = "Show only checks that failed, timed out, crashed or broke in some run."},
	{0},
};

const struct command_spec command_matrix = {
	.name = "matrix",
	.summary = "Fold many reports into one table of checks, drivers and OS builds",
	.arguments = "FOLDER...",
	.description =
		"Reads every report.json below the folders, several at a time, without following "
		"links. A column is a driver version on a build of an OS; a cell shows the gravest "
		"outcome and in how many runs it occurred (\"fail 2 of 12\"). A check with outcomes "
		"for each device counts for the driver of each. Columns of nodes that are not live "
		"are marked. Software drivers have columns only for reports without another driver. "
		"A run that is found twice counts once.",
	.options = matrix_options,
	.examples = TEXTS(
		"gpucert matrix reports", "Fold every report.json below a folder into one table.",
		"gpucert matrix --apis --format markdown reports >matrix.md",
		"Show which APIs work with which driver on which build, for a page or a README.",
		"gpucert matrix --format html reports >matrix.html",
		"Make a page with a heat map, the runs behind each cell, and links to their reports."),
	.exit_codes = EXIT_CODES("done", "a report cannot be read; the others are printed"),
	.run = matrix_run,
};
