/* SPDX-License-Identifier: MIT */
/* `expect`: expectation files, without a run. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/members.h"
#include "conformance/checks/suites.h"
#include "conformance/cli/commands.h"
#include "conformance/runner/expectations.h"
#include "reports/environment_name.h"
#include "reports/report_file.h"
#include "reports/view.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_PROPOSALS = 1, NEW_ROW_DAYS = 180 };

/* `given` has the files and, behind them, reports. */
static struct {
	struct text_list reports;
} given;

static int open_files(const struct text_list *files, struct expectations *out, struct error *err)
{
	struct text_list overdue CLEANUP_TEXT_LIST = {0};
	char today[CLOCK_UTC_SIZE] = "";
	(void)clock_utc(today);
	int rc = files->count > 0 ? 0
				  : error_set(err, ERROR_ARGUMENT,
					      "name expectation files, or installed ones by name");
	if (rc == 0)
		rc = expectations_open(files, suites, today, out, &overdue, err);
	for (size_t i = 0; i < overdue.count; i++)
		command_tell("expect", overdue.items[i]);
	return rc;
}

static int check_run(const struct text_list *arguments)
{
	struct expectations expectations CLEANUP_EXPECTATIONS = {0};
	struct error err = {0};
	int rc = open_files(arguments, &expectations, &err);
	if (rc < 0)
		return command_failed("expect check", rc, &err);
	(void)printf("%zu rows; each names a check that is there\n", expectations.count);
	return EXIT_SUCCESS;
}

static void add_line(struct text *out, const char *label, const char *value)
{
	text_addf(out, "  %-10s ", label);
	text_add_escaped(out, value, strlen(value));
	text_add(out, "\n");
}

/* How a check of a report ended, and the row for it. */
static void explain(const struct view_check *check, const struct expectation *row, struct text *out)
{
	const enum report_disposition disposition =
		row->expect == EXPECT_FLAKY && check->outcome == REPORT_PASS
			? REPORT_AS_EXPECTED
			: report_disposition_of(check->outcome, expectation_outcome(row));
	const char *word = report_disposition_names[disposition];
	text_add_escaped(out, check->id, strlen(check->id));
	text_addf(out, ": %s, %s\n", report_outcome_names[check->outcome],
		  word != NULL ? word : "not run");
	add_line(out, "row", row->entry);
	add_line(out, "why", row->why);
	add_line(out, "link", row->link);
	add_line(out, "seen with", row->seen_with);
	add_line(out, "review by", row->review_by);
}

static int each_row(const struct expectations *expectations, const char *path, struct text *out,
		    struct error *err)
{
	cJSON *report CLEANUP_JSON = NULL;
	struct view view CLEANUP_VIEW = {0};
	size_t found = 0;
	int rc = report_file_read(path, NULL, &report, err);
	if (rc == 0)
		rc = view_open(report, &view, err);
	for (size_t i = 0; rc == 0 && i < view.count; i++) {
		const struct expectation *row = NULL;
		rc = expectations_find(expectations, view.checks[i].id,
				       (unsigned)view_int(view.checks[i].json, "/revision"),
				       cJSON_GetObjectItemCaseSensitive(report, "environment"),
				       &row, err);
		if (row == NULL)
			continue;
		explain(&view.checks[i], row, out);
		found++;
	}
	if (rc == 0 && found == 0)
		text_addf(out, "no row is about this environment\n");
	return rc;
}

static int explain_run(const struct text_list *arguments)
{
	struct expectations expectations CLEANUP_EXPECTATIONS = {0};
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	int rc = open_files(arguments, &expectations, &err);
	if (rc == 0 && given.reports.count == 0)
		rc = error_set(&err, ERROR_ARGUMENT, "--report: name the folder of a run");
	for (size_t i = 0; rc == 0 && i < given.reports.count; i++)
		rc = each_row(&expectations, given.reports.items[i], &out, &err);
	if (rc == 0)
		rc = options_print(text_take(&out), &err);
	text_list_free(&given.reports);
	return rc < 0 ? command_failed("expect explain", rc, &err) : EXIT_SUCCESS;
}

/* How a check ended in the reports, and the row that all of them have for it. */
struct tally {
	const char *id;
	unsigned revision;
	unsigned passed, failed;
	enum report_outcome worst;
	const struct expectation *row;
	const cJSON *environment; /* of the first report in which it was bad */
};

struct tallies {
	struct tally *items;
	size_t count;
};

static struct tally *find_tally(struct tallies *tallies, const struct view_check *check)
{
	for (size_t i = 0; i < tallies->count; i++) {
		if (strcmp(tallies->items[i].id, check->id) == 0)
			return &tallies->items[i];
	}
	struct tally *grown = array_grow(tallies->items, tallies->count, sizeof(*grown));
	if (grown == NULL)
		return NULL;
	tallies->items = grown;
	grown[tallies->count] = (struct tally){
		.id = check->id, .revision = (unsigned)view_int(check->json, "/revision")};
	return &grown[tallies->count++];
}

static int count(const struct expectations *expectations, const cJSON *report,
		 struct tallies *tallies, struct error *err)
{
	const cJSON *environment = cJSON_GetObjectItemCaseSensitive(report, "environment");
	struct view view CLEANUP_VIEW = {0};
	int rc = view_open(report, &view, err);
	for (size_t i = 0; rc == 0 && i < view.count; i++) {
		const struct view_check *check = &view.checks[i];
		const struct expectation *row = NULL;
		struct tally *tally = find_tally(tallies, check);
		if (tally == NULL)
			return error_memory(err);
		rc = expectations_find(expectations, check->id, tally->revision, environment, &row,
				       err);
		tally->row = row != NULL ? row : tally->row;
		tally->passed += check->outcome == REPORT_PASS;
		if (check->outcome != REPORT_FAIL && check->outcome != REPORT_TIMEOUT &&
		    check->outcome != REPORT_CRASH)
			continue;
		tally->failed++;
		tally->worst = check->outcome > tally->worst ? check->outcome : tally->worst;
		tally->environment = tally->environment != NULL ? tally->environment : environment;
	}
	return rc;
}

/* Of the row that is to be written by a person, what the reports know. */
static cJSON *new_row(const struct tally *tally)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members match CLEANUP_MEMBERS = members_new();
	const cJSON *drivers = cJSON_GetObjectItemCaseSensitive(tally->environment, "drivers");
	const cJSON *driver = json_first(drivers);
	struct text seen CLEANUP_TEXT = {0};
	char today[CLOCK_UTC_SIZE] = "";
	(void)clock_utc(today);
	member_string(&match, "os", view_string(tally->environment, "/os/name"));
	if (driver != NULL && driver->next == NULL)
		member_string(&match, "driver", view_string(driver, "/key"));
	environment_add_name("os", cJSON_GetObjectItemCaseSensitive(tally->environment, "os"),
			     &seen);
	json_each (item, drivers) {
		text_add(&seen, ", ");
		environment_add_name("drivers", item, &seen);
	}
	member_string(&json, "check", tally->id);
	member_int(&json, "revision", tally->revision);
	member_string(&json, "expect",
		      tally->passed > 0 ? "flaky" : report_outcome_names[tally->worst]);
	member_item(&json, "match", members_take(&match));
	member_string(&json, "why", "");
	member_string(&json, "link", "");
	member_format(&json, "added", "%.10s", today);
	member_string(&json, "seenWith", text_string(&seen));
	member_string(&json, "reviewBy", "");
	return members_take(&json);
}

/* What is to be changed about one check; nothing where it is as its row says. */
static bool propose(const struct tally *tally, struct text *out)
{
	const struct expectation *row = tally->row;
	if (row != NULL && tally->passed > 0 && tally->failed == 0 && row->expect != EXPECT_FLAKY) {
		text_addf(out, "- %s (%s): it passed in each of %u runs\n", row->entry, tally->id,
			  tally->passed);
		return true;
	}
	if (row != NULL && tally->passed > 0 && tally->failed > 0 && row->expect != EXPECT_FLAKY) {
		text_addf(out, "~ %s (%s): it passed in %u of %u runs: \"expect\": \"flaky\"\n",
			  row->entry, tally->id, tally->passed, tally->passed + tally->failed);
		return true;
	}
	if (row != NULL || tally->failed == 0)
		return false;
	cJSON *json CLEANUP_JSON = new_row(tally);
	char *text CLEANUP_FREE = json_print_compact(json);
	text_addf(out, "+ %s\n", text != NULL ? text : "");
	out->failed = out->failed || text == NULL;
	return true;
}

static void free_reports(cJSON **reports)
{
	cJSON_Delete(*reports);
}

static int update(const struct expectations *expectations, struct text *out, bool *proposed,
		  struct error *err)
{
	cJSON *reports __attribute__((cleanup(free_reports))) = cJSON_CreateArray();
	struct tallies tallies = {0};
	int rc = reports != NULL ? 0 : error_memory(err);
	for (size_t i = 0; rc == 0 && i < given.reports.count; i++) {
		cJSON *report = NULL;
		rc = report_file_read(given.reports.items[i], NULL, &report, err);
		if (rc == 0)
			rc = members_append(reports, report, err);
		if (rc == 0)
			rc = count(expectations, report, &tallies, err);
	}
	for (size_t i = 0; rc == 0 && i < tallies.count; i++)
		*proposed = propose(&tallies.items[i], out) || *proposed;
	free(tallies.items);
	return rc;
}

static int update_run(const struct text_list *arguments)
{
	struct expectations expectations CLEANUP_EXPECTATIONS = {0};
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	bool proposed = false;
	int rc = open_files(arguments, &expectations, &err);
	if (rc == 0 && given.reports.count == 0)
		rc = error_set(&err, ERROR_ARGUMENT, "--report: name the folders of runs");
	if (rc == 0)
		rc = update(&expectations, &out, &proposed, &err);
	if (rc == 0 && !proposed)
		text_add(&out, "every row is as the reports show\n");
	if (rc == 0)
		rc = options_print(text_take(&out), &err);
	text_list_free(&given.reports);
	if (rc < 0)
		return command_failed("expect update", rc, &err);
	return proposed ? EXIT_PROPOSALS : EXIT_SUCCESS;
}

static const struct option_spec no_options[] = {{.name = NULL}};

static const struct option_spec report_options[] = {
	{OPTION_ROW("report", OPTION_LIST, given.reports), .letter = 'r', .value = "REPORT",
	 .help = "The folder of a run, or a report.json; may be repeated."},
	{.name = NULL},
};

static const char *const check_examples[] = {
	"gpucert expect check windows-gpus own.json",
	"Let CI refuse rows of checks that are gone, and rows that nobody looked at again.",
	NULL,
};

const struct command_spec command_expect_check = {
	.name = "expect check",
	.summary = "Tell whether expectation files are right",
	.arguments = "FILE...",
	.description =
		"FILE is an expectation file (docs/expectations.md), or the name of an installed one. "
		"Every row must name a check that there is, with its revision, ranges and days that "
		"are such, and the day by which it is looked at again; 90 days after it, the row is "
		"an error.",
	.options = no_options,
	.examples = check_examples,
	.exit_codes = (const char *const[]){"0", "they are right", "2", "usage", "3",
					    "a file cannot be read or is wrong", NULL},
	.run = check_run,
};

static const char *const explain_examples[] = {
	"gpucert expect explain windows-gpus --report gpucert-report",
	"Tell which known failures a run's environment has, and how its checks ended.",
	NULL,
};

const struct command_spec command_expect_explain = {
	.name = "expect explain",
	.summary =
		"Tell which rows of expectation files are about a report, and why they are there",
	.arguments = "FILE...",
	.description =
		"For each check of the report that a row is about: how it ended, what follows, and the "
		"row's reason, link and days.",
	.options = report_options,
	.examples = explain_examples,
	.exit_codes = (const char *const[]){"0", "done", "2", "usage", "3",
					    "a file or a report cannot be read", NULL},
	.run = explain_run,
};

static const char *const update_examples[] = {
	"gpucert expect update own.json --report run-1 --report run-2 --report run-3",
	"Propose rows from three runs: what fails in all of them, and what in some.",
	NULL,
};

const struct command_spec command_expect_update = {
	.name = "expect update",
	.summary = "Propose changes of expectation files from several reports",
	.arguments = "FILE...",
	.description =
		"A line for each proposal: '-' a row whose check passed in all reports that it is about, "
		"'~' a row whose check passed in some, '+' a row for a check that has none and was "
		"bad. Why it fails, a link and the day to look again are for a person to write: "
		"a row without them is refused.",
	.options = report_options,
	.examples = update_examples,
	.exit_codes =
		(const char *const[]){"0", "nothing is to be changed", "1", "there are proposals",
				      "2", "usage", "3", "a file or a report cannot be read", NULL},
	.run = update_run,
};
