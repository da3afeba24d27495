/* SPDX-License-Identifier: MIT */
/* `expect`: expectation files, without a run. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/members.h"
#include "base/version.h"
#include "conformance/checks/suites.h"
#include "conformance/cli/commands.h"
#include "conformance/runner/expectations.h"
#include "reports/environment.h"
#include "reports/report_file.h"

#include <stdio.h>

enum { EXIT_PROPOSALS = 1 };

static struct {
	struct text_list reports;
} given;

static int open_files(const struct text_list *files, struct expectations *out, struct error *err)
{
	struct text_list overdue CLEANUP_TEXT_LIST = {0};
	char today[CLOCK_UTC_SIZE] = "";
	(void)clock_utc(today);
	int rc = expectations_open(files, suites, today, out, &overdue, err);
	text_each (line, &overdue)
		command_print("expect", line);
	return rc;
}

static int check_run(const struct text_list *arguments)
{
	struct expectations expectations CLEANUP_EXPECTATIONS = {0};
	struct error err = {0};
	int rc = open_files(arguments, &expectations, &err);
	if (rc < 0)
		return command_failed("expect check", rc, &err);
	(void)printf("%zu row%s right\n", expectations.count,
		     expectations.count == 1 ? " is" : "s are");
	return EXIT_SUCCESS;
}

/* The row of a check in a report's environment; NULL: there is none. */
static int find_row(const struct expectations *expectations, const cJSON *report,
		    const struct view_check *check, const struct expectation **out,
		    struct error *err)
{
	return expectations_find(expectations, check->id,
				 (unsigned)view_int(check->json, "/revision"),
				 json_pointer(report, "/environment"), out, err);
}

static void add_line(struct text *out, const char *label, const char *value)
{
	text_addf(out, "  %-10s ", label);
	view_add_escaped(out, value);
	text_add(out, "\n");
}

/* How a check of a report ended, and the row for it; texts of the row `before` are not repeated. */
static void explain(const struct view_check *check, const struct expectation *row,
		    const struct expectation *before, struct text *out)
{
	const struct report_known known = expectation_known(row);
	const char *word = report_disposition_names[report_disposition_known(
		check->outcome, check->reason, &known)];
	view_add_escaped(out, check->id);
	text_addf(out, ": %s, %s\n", report_outcome_names[check->outcome],
		  word != NULL ? word : "not run");
	add_line(out, "row", row->entry);
	if (before != NULL && text_equal(before->why, row->why) &&
	    text_equal(before->link, row->link))
		return;
	add_line(out, "why", row->why);
	add_line(out, "link", row->link);
	add_line(out, "seen with", row->seen_with);
	add_line(out, "review by", row->review_by);
}

static int explain_report(const struct expectations *expectations, const char *path,
			  struct text *out, struct error *err)
{
	cJSON *report CLEANUP_JSON = NULL;
	struct view view CLEANUP_VIEW = {0};
	const struct expectation *before = NULL;
	int rc = report_file_open(path, &report, &view, err);
	if (given.reports.count > 1) {
		view_add_escaped(out, path);
		text_add(out, ":\n");
	}
	for (size_t i = 0; rc == 0 && i < view.count; i++) {
		const struct expectation *row = NULL;
		rc = find_row(expectations, report, &view.checks[i], &row, err);
		if (row == NULL)
			continue;
		explain(&view.checks[i], row, before, out);
		before = row;
	}
	if (rc == 0 && before == NULL)
		text_addf(out, "no row is about this environment\n");
	return rc;
}

/* --report is required. */
static int open_with_reports(const struct text_list *files, struct expectations *out,
			     struct error *err)
{
	if (given.reports.count == 0)
		return error_set(err, ERROR_ARGUMENT, "--report: name the folder of a run");
	return open_files(files, out, err);
}

static int explain_run(const struct text_list *arguments)
{
	struct expectations expectations CLEANUP_EXPECTATIONS = {0};
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	int rc = open_with_reports(arguments, &expectations, &err);
	for (size_t i = 0; rc == 0 && i < given.reports.count; i++)
		rc = explain_report(&expectations, given.reports.items[i], &out, &err);
	if (rc == 0)
		rc = options_print(text_take(&out), &err);
	text_list_free(&given.reports);
	return command_end("expect explain", rc, &err);
}

/* How a check ended in the reports of one environment, for which it has one row or none. */
struct tally {
	const char *id;
	unsigned revision;
	const struct expectation *row;
	const char *place;		    /* names of OS and drivers */
	const cJSON *environment;	    /* of the first report */
	unsigned passed, failed, otherwise; /* otherwise: failures that the row does not describe */
	enum report_outcome worst;
	const char *reason; /* of the last failure, preferably one that the row does not describe */
};

struct tallies {
	struct tally *items;
	size_t count;
	struct text_list places;
};

static struct tally *find_tally(struct tallies *tallies, const struct view_check *check,
				const struct expectation *row, const cJSON *environment)
{
	const char *place = tallies->places.items[tallies->places.count - 1];
	for (size_t i = 0; i < tallies->count; i++) {
		struct tally *tally = &tallies->items[i];
		if (tally->row == row && text_equal(tally->id, check->id) &&
		    text_equal(tally->place, place))
			return tally;
	}
	tallies->items = array_grow(tallies->items, tallies->count, sizeof(*tallies->items));
	struct tally *tally = &tallies->items[tallies->count++];
	*tally = (struct tally){.id = check->id,
				.revision = (unsigned)view_int(check->json, "/revision"),
				.row = row,
				.place = place,
				.environment = environment};
	return tally;
}

static int count(const struct expectations *expectations, const cJSON *report,
		 const struct view *view, struct tallies *tallies, struct error *err)
{
	const cJSON *environment = json_pointer(report, "/environment");
	struct text place CLEANUP_TEXT = {0};
	struct text drivers CLEANUP_TEXT = {0};

	/* "Windows Server 2022 20348.1547, nvlddmkm 31.0.15.5222" */
	environment_add_names("os", environment, &place);
	environment_add_names("drivers", environment, &drivers);
	text_add(&place, drivers.size > 0 ? ", " : "");
	text_add_all(&place, &drivers);
	text_list_add(&tallies->places, text_string(&place));

	for (size_t i = 0; i < view->count; i++) {
		const struct view_check *check = &view->checks[i];
		const struct expectation *row = NULL;
		int rc = find_row(expectations, report, check, &row, err);
		if (rc < 0)
			return rc;
		struct tally *tally = find_tally(tallies, check, row, environment);
		if (check->outcome == REPORT_PASS)
			tally->passed++;
		if (check->outcome == REPORT_BROKEN || !report_outcome_is_bad(check->outcome))
			continue;
		const struct report_known known = tally->row != NULL ? expectation_known(tally->row)
								     : (struct report_known){0};
		const bool otherwise = report_disposition_known(check->outcome, check->reason,
								&known) == REPORT_UNEXPECTED_FAIL;
		tally->failed++;
		tally->otherwise += otherwise;
		tally->worst = check->outcome > tally->worst ? check->outcome : tally->worst;
		if (otherwise || tally->reason == NULL)
			tally->reason = check->reason;
	}
	return 0;
}

/* Exactly this version, if ranges can express it. */
static void member_exactly(struct members *match, const char *key, const char *version)
{
	char *range CLEANUP_FREE = text_format("=%s", version);
	if (version_range_is_valid(range))
		member_string(match, key, range);
}

/* The part of a row that the reports know; a person writes the rest. */
static cJSON *new_row(const struct tally *tally)
{
	const cJSON *os = cJSON_GetObjectItemCaseSensitive(tally->environment, "os");
	const cJSON *driver =
		json_first(cJSON_GetObjectItemCaseSensitive(tally->environment, "drivers"));
	struct members json CLEANUP_MEMBERS = members_new();
	struct text build CLEANUP_TEXT = {0};
	char today[CLOCK_UTC_SIZE] = "";

	(void)clock_utc(today);
	member_string(&json, "check", tally->id);
	member_int(&json, "revision", tally->revision);
	member_string(&json, "expect",
		      tally->passed > 0 ? "flaky" : report_outcome_names[tally->worst]);

	/* Only the environment in which it failed: a person decides how much further it holds. */
	struct members match = member_object(&json, "match");
	environment_add_build(os, &build);
	member_string(&match, "os", view_string(os, "/name"));
	member_exactly(&match, "osBuild", text_string(&build));
	if (driver != NULL && driver->next == NULL) {
		member_string(&match, "driver", view_string(driver, "/key"));
		member_exactly(&match, "driverVersion", view_string(driver, "/version"));
	}

	member_string(&json, "why", "");
	member_string(&json, "link", "");
	member_format(&json, "added", "%.10s", today);
	member_string(&json, "seenWith", tally->place);
	member_string(&json, "reviewBy", "");
	return members_take(&json);
}

/* The start of a line about a row. */
static void add_row_name(char sign, const struct tally *tally, struct text *out)
{
	text_addf(out, "%c %s (%s) with ", sign, tally->row->entry, tally->id);
	view_add_escaped(out, tally->place);
}

/* Changes for one check; none where it ends as its row says. */
static void propose(const struct tallies *tallies, const struct tally *tally, struct text *out)
{
	if (tally->row == NULL) {
		if (tally->failed == 0)
			return;
		if (expectations_forbid(tally->id, suites)) {
			text_addf(out, "! %s " EXPECTATIONS_FORBIDDEN "\n", tally->id);
			return;
		}
		cJSON *json CLEANUP_JSON = new_row(tally);
		char *text CLEANUP_FREE = json_print_compact(json);
		text_addf(out, "+ %s\n", text);
		return;
	}

	if (tally->passed > 0 && tally->row->expect != EXPECT_FLAKY) {
		bool elsewhere = false;
		for (size_t i = 0; i < tallies->count; i++)
			elsewhere = elsewhere || (tallies->items[i].row == tally->row &&
						  tallies->items[i].failed > 0);
		add_row_name(elsewhere ? '~' : '-', tally, out);
		if (tally->failed > 0)
			text_addf(out, ": it passed in %u of %u runs: \"expect\": \"flaky\"\n",
				  tally->passed, tally->passed + tally->failed);
		else
			text_addf(out, ": it passed in each of %u run%s%s\n", tally->passed,
				  tally->passed == 1 ? "" : "s",
				  elsewhere ? ", and failed elsewhere: narrow its match" : "");
	}
	if (tally->otherwise > 0) {
		add_row_name('~', tally, out);
		text_addf(out, ": %u of %u failures are not what it says (%s): ", tally->otherwise,
			  tally->failed, report_outcome_names[tally->worst]);
		view_add_escaped(out, tally->reason);
		text_add(out, "\n");
	}
}

static int update(const struct expectations *expectations, cJSON *reports, struct text *out,
		  struct error *err)
{
	struct tallies tallies = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < given.reports.count; i++) {
		struct view view CLEANUP_VIEW = {0};
		cJSON *report = NULL;
		rc = report_file_open(given.reports.items[i], &report, &view, err);
		if (report != NULL)
			array_add(reports, report);
		if (rc == 0)
			rc = count(expectations, report, &view, &tallies, err);
	}
	for (size_t i = 0; rc == 0 && i < tallies.count; i++)
		propose(&tallies, &tallies.items[i], out);
	text_list_free(&tallies.places);
	free(tallies.items);
	return rc;
}

static int update_run(const struct text_list *arguments)
{
	struct expectations expectations CLEANUP_EXPECTATIONS = {0};
	cJSON *reports CLEANUP_JSON = cJSON_CreateArray();
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	int rc = open_with_reports(arguments, &expectations, &err);
	if (rc == 0)
		rc = update(&expectations, reports, &out, &err);
	const bool proposed = out.size > 0;
	text_add(&out, proposed ? "" : "every row is as the reports show\n");
	if (rc == 0)
		rc = options_print(text_take(&out), &err);
	text_list_free(&given.reports);
	if (rc < 0)
		return command_failed("expect update", rc, &err);
	return proposed ? EXIT_PROPOSALS : EXIT_SUCCESS;
}

static const struct option_spec report_options[] = {
	{OPTION_ROW("report", OPTION_LIST, given.reports), .letter = 'r', .value = "REPORT",
	 .help = "The folder of a run, or a report.json."},
	{0},
};

const struct command_spec command_expect_check = {
	.name = "expect check",
	.summary = "Validate expectation files",
	.arguments = "FILE|NAME...",
	.description =
		"FILE is an expectation file (docs/expectations.md), NAME the name of an installed "
		"one. Every row must name an existing check and its revision, valid ranges and "
		"dates, and the day of its next review; 90 days after that day the row is an error.",
	.examples = TEXTS(
		"gpucert expect check windows-gpus own.json",
		"Let CI refuse rows of checks that are gone, and rows that are overdue for review."),
	.exit_codes = EXIT_CODES("all rows are valid", "a file cannot be read or is not valid"),
	.run = check_run,
};

const struct command_spec command_expect_explain = {
	.name = "expect explain",
	.summary = "Show which rows of expectation files apply to a report, and why they exist",
	.arguments = "FILE|NAME...",
	.description =
		"For each check of the report with a row: its outcome, its disposition, and the "
		"row's reason, link and dates.",
	.options = report_options,
	.examples = TEXTS(
		"gpucert expect explain windows-gpus --report gpucert-report",
		"Show the known failures of a run's environment, and how their checks ended."),
	.exit_codes = EXIT_CODES("done", "a file or a report cannot be read"),
	.run = explain_run,
};

const struct command_spec command_expect_update = {
	.name = "expect update",
	.summary = "Propose changes of expectation files from several reports",
	.arguments = "FILE|NAME...",
	.description =
		"A line for each proposal: '-' a row whose check passed in all reports that it "
		"applies to; '~' a row whose check passed with some drivers or builds, passed in "
		"some runs, or failed differently than the row says; '+' a row for a bad check that "
		"has none, with the driver and the build of that run; '!' a bad check that cannot "
		"have a row, because others depend on it. A person writes why it fails, a link and "
		"the day of the next review: a row without them is refused. A person also decides "
		"for which other environments a row holds.",
	.options = report_options,
	.examples = TEXTS(
		"gpucert expect update own.json --report run-1 --report run-2 --report run-3",
		"Propose rows from three runs: for checks that fail in all of them, and in some."),
	.exit_codes = TEXTS("0", "no proposals", "1", "there are proposals", "2", "usage", "3",
			    "a file or a report cannot be read"),
	.run = update_run,
};
