/* SPDX-License-Identifier: MIT */
/* `compare`: what changed from one report to others. */
#include "base/members.h"
#include "base/style.h"
#include "conformance/cli/commands.h"
#include "reports/pages/compare/compare.h"
#include "reports/report_file.h"

#include <unistd.h>

enum { EXIT_REGRESSION = 1 };

static const char *const formats[] = {"text", "markdown", "html", "json", NULL};
static const struct doc_writer *const writers_of[] = {&doc_terminal, &doc_markdown, &doc_html,
						      &doc_terminal};
static const char *const limits[] = {"regression", "change", "nothing", NULL};

static struct {
	const char *format, *fail_on;
} given = {.format = "text", .fail_on = "regression"};

/* The comparisons so far. */
struct output {
	struct doc doc;
	cJSON *json; /* an array */
	bool failed; /* as --fail-on defines it */
};

static void output_free(struct output *output)
{
	doc_free(&output->doc);
	cJSON_Delete(output->json);
}

/* `number`: 0, or which of several it is. */
static int compare(const cJSON *from, const char *from_path, const char *to_path, size_t number,
		   struct output *output, struct error *err)
{
	struct comparison comparison CLEANUP_COMPARISON = {0};
	const size_t *kinds = comparison.kinds;
	cJSON *to CLEANUP_JSON = NULL;
	int rc = report_file_read(to_path, NULL, &to, err);
	if (rc < 0)
		return rc;
	rc = comparison_make(from, to, &comparison, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", to_path);
	comparison.from_path = from_path;
	comparison.to_path = to_path;
	text_add(&output->doc.out, output->doc.out.size > 0 ? "\n" : "");
	comparison_write(&comparison, number, &output->doc);
	array_add(output->json, comparison_to_json(&comparison));

	const bool changed = kinds[COMPARE_CHANGED] > 0 || kinds[COMPARE_GONE] > 0 ||
			     kinds[COMPARE_NOT_COMPARABLE] > 0;
	if (!text_equal(given.fail_on, "nothing") && kinds[COMPARE_REGRESSION] > 0)
		output->failed = true;
	if (text_equal(given.fail_on, "change") && changed)
		output->failed = true;
	return 0;
}

static int compare_run(const struct text_list *arguments)
{
	const bool several = arguments->count > 2;
	struct output output CLEANUP(output_free) = {
		.doc = {.writer = writers_of[text_position(formats, given.format)],
			.color = style_enabled(STDOUT_FILENO)},
		.json = cJSON_CreateArray()};
	cJSON *from CLEANUP_JSON = NULL;
	struct view from_view CLEANUP_VIEW = {0};
	struct text page CLEANUP_TEXT = {0};
	struct error err = {0};
	int rc = report_file_open(arguments->items[0], &from, &from_view, &err);
	for (size_t i = 1; rc == 0 && i < arguments->count; i++)
		rc = compare(from, arguments->items[0], arguments->items[i], several ? i : 0,
			     &output, &err);
	if (rc < 0)
		return command_failed("compare", rc, &err);

	if (text_equal(given.format, "json")) {
		rc = options_print(json_print(several ? output.json : output.json->child), &err);
	} else {
		comparison_print(&output.doc, &page);
		rc = options_print(text_take(&page), &err);
	}
	if (rc < 0)
		return command_failed("compare", rc, &err);
	return output.failed ? EXIT_REGRESSION : EXIT_SUCCESS;
}

static const struct option_spec compare_options[] = {
	{OPTION_ROW("format", OPTION_CHOICE, given.format), .letter = 'f', .value = "FORMAT",
	 .help = "Output format. markdown: for a CI system's summary or a review. json: "
		 "comparison.schema.json, an array for several reports. html: a page whose links are "
		 "relative to the working directory, so store it there.",
	 .choices = formats},
	{OPTION_ROW("fail-on", OPTION_CHOICE, given.fail_on), .value = "WHAT",
	 .help = "When to exit with 1: if a check that passed no longer does (regression); also if "
		 "any other check changed, is gone or cannot be compared (change); or never (nothing).",
	 .choices = limits},
	{0},
};

const struct command_spec command_compare = {
	.name = "compare",
	.summary = "Show what changed from one report to others",
	.arguments = "REPORT REPORT...",
	.description =
		"REPORT is the folder of a run (--out of 'run') or a report.json. Each of the others "
		"is compared with the first: first the environment (OS, driver, device, runtime, "
		"plugin, images, harness, node), then the outcomes of checks: regressions (a check "
		"passed, and no longer does, also when it is unsupported or did not run), other "
		"changes, fixes, new checks, checks that are gone, and checks that cannot be "
		"compared, because they have another revision, or did not pass while one of the runs "
		"got no answer. If only one part of the environment changed, the first line names it "
		"with both versions.\n\nOutcomes are compared; whether they were expected does not "
		"matter. A Windows image follows its host's build, and so does not count as a change.",
	.options = compare_options,
	.examples = TEXTS("gpucert compare yesterday today",
			  "Show what a new driver or a new build of Windows changed.",
			  "gpucert compare --fail-on change baseline/report.json gpucert-report",
			  "Let CI fail when any check ended differently than in the baseline.",
			  "gpucert compare --format html yesterday today >comparison.html",
			  "Make a page of the difference, with links to both reports."),
	.exit_codes =
		TEXTS("0", "no regression", "1", "a regression, or a change that --fail-on names",
		      "2", "usage", "3", "a report cannot be read"),
	.run = compare_run,
};
