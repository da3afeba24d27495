/* SPDX-License-Identifier: MIT */
#include "base/style.h"
#include "reports/environment.h"
#include "reports/findings.h"
#include "reports/writer.h"

#include <string.h>

enum { LABEL_COLUMNS = 11, BODY_COLUMNS_MIN = 40, FRAME_LINES = 7 };

struct summary {
	const cJSON *report;
	const struct writer_options *options;
	struct findings findings;
	size_t failed_left, untested_left; /* checks that are not told */
	struct text *out;
};

/* The bytes of the first `columns` characters. */
static size_t fit(const struct text *body, size_t columns)
{
	size_t characters = 0;
	for (size_t i = 0; i < body->size; i++) {
		if (((unsigned char)body->data[i] & 0xc0) != 0x80 && characters++ == columns)
			return i;
	}
	return body->size;
}

/* Escapes the body, which has at most `columns`; 0: it is not cut. */
static void add_cut(struct summary *summary, enum style tone, const char *label,
		    const struct text *body, size_t columns)
{
	const bool color = summary->options->color;
	struct text escaped CLEANUP_TEXT = {0};
	view_add_escaped(&escaped, text_string(body));
	const size_t size = columns != 0 ? fit(&escaped, columns - 1) : escaped.size;
	text_addf(summary->out, "%s%-*s%s", style(color, tone), LABEL_COLUMNS, label,
		  style(color, STYLE_RESET));
	text_append(summary->out, text_string(&escaped), size);
	text_add(summary->out, size != escaped.size ? "…\n" : "\n");
	summary->out->failed = summary->out->failed || body->failed || escaped.failed;
}

static void add_line(struct summary *summary, enum style tone, const char *label,
		     const struct text *body)
{
	const int columns = summary->options->columns - LABEL_COLUMNS;
	add_cut(summary, tone, label, body,
		summary->options->columns == 0 ? 0
		: columns < BODY_COLUMNS_MIN   ? BODY_COLUMNS_MIN
					       : (size_t)columns);
}

/* The verdict and the counts. */
static void add_verdict(struct summary *summary)
{
	static const enum style tones[] = {[FINDINGS_GOOD] = STYLE_GREEN,
					   [FINDINGS_OPEN] = STYLE_YELLOW,
					   [FINDINGS_BAD] = STYLE_RED};
	const struct findings_headline headline = findings_headline_of(summary->report);
	struct text body CLEANUP_TEXT = {0};
	findings_add_verdict(summary->report, &body);
	add_cut(summary, tones[headline.tone], headline.word, &body, 0);
}

/* Returns the lines used. */
static size_t add_fixed(struct summary *summary)
{
	struct text body CLEANUP_TEXT = {0};
	if (!findings_add_fixed(&summary->findings, &body))
		return 0;
	add_line(summary, STYLE_GREEN, "FIXED", &body);
	return 1;
}

/* A name and its version, if it has one; nothing when it is not known. */
static void add_part(struct text *body, const cJSON *environment, const char *name,
		     const char *version)
{
	const char *name_text = view_string(environment, name);
	const char *version_text = view_string(environment, version);
	if (name_text[0] != '\0')
		text_addf(body, "%s%s%s%s", body->size != 0 ? ", " : "", name_text,
			  version_text[0] != '\0' ? " " : "", version_text);
}

/* What the report is about. */
static void add_environment(struct summary *summary)
{
	const cJSON *environment = json_pointer(summary->report, "/environment");
	const char *kind = view_string(environment, "/node/kind");
	const bool is_wine = strcmp(kind, "wine") == 0;
	const bool is_recorded = strcmp(kind, "recorded") == 0;
	struct text body CLEANUP_TEXT = {0};
	struct text parts CLEANUP_TEXT = {0};
	environment_add_names("devices", environment, &parts);
	if (is_recorded)
		text_addf(&body, "a recorded node (%s): ", view_string(environment, "/node/file"));
	else if (is_wine)
		text_add(&body, "a Windows node under Wine: ");
	/* The system of a node that is not this machine, and what stood in for it. */
	if (is_recorded || is_wine) {
		add_part(&parts, environment, "/os/product", "/os/version");
		text_addf(&parts, "; %s on %s", is_wine ? "run" : "replayed",
			  view_string(environment, "/node/machine/product"));
	}
	add_part(&parts, environment, "/plugin/name", "/plugin/version");
	add_part(&parts, environment, "/runtime/name", "/runtime/version");
	if (!is_recorded && !is_wine)
		add_part(&parts, environment, "/os/product", "");
	if (parts.size == 0)
		text_add(&parts, "an unknown environment");
	text_add_all(&body, &parts);
	add_line(summary, STYLE_BOLD, "on", &body);
}

/* Why the runner gave up, if it did. Returns the lines used. */
static size_t add_abort(struct summary *summary)
{
	struct text body CLEANUP_TEXT = {0};
	text_add(&body, view_string(summary->report, "/run/abort/reason"));
	if (body.size == 0)
		return 0;
	add_line(summary, STYLE_RED, "aborted", &body);
	return 1;
}

/* Of each suite in which something passed and proves what it is about: those that did, and all that apply. */
static void add_works(struct summary *summary)
{
	const struct view *view = &summary->findings.view;
	struct text body CLEANUP_TEXT = {0};
	for (size_t i = 0; i < view->count; i++) {
		const struct view_check *head = &view->checks[i];
		size_t passed = 0;
		size_t all = 0;
		if (!view_begins_suite(view, i))
			continue;
		for (size_t k = i; k < view->count; k++) {
			const struct view_check *check = &view->checks[k];
			if (!view_same_suite(head, check) ||
			    check->outcome == REPORT_NOT_APPLICABLE)
				continue;
			all++;
			passed += check->outcome == REPORT_PASS && !check->unproven ? 1 : 0;
		}
		if (passed == 0)
			continue;
		text_add(&body, body.size != 0 ? ", " : "");
		text_addf(&body, "%.*s %zu/%zu", (int)head->suite_size, head->id, passed, all);
	}
	if (body.size == 0)
		text_add(&body, "nothing was shown to work");
	add_line(summary, STYLE_GREEN, "works", &body);
}

/* "vulkan on lavapipe", or on how many of several devices. */
static void add_api(struct text *body, const struct view_check *check)
{
	const cJSON *outcomes = json_pointer(check->json, "/deviceOutcomes");
	const char *last = "";
	size_t passed = 0;
	size_t all = 0;
	json_each (outcome, outcomes) {
		bool works = strcmp(view_string(outcome, "/outcome"),
				    report_outcome_names[REPORT_PASS]) == 0;
		all++;
		passed += works ? 1 : 0;
		last = works ? view_string(outcome, "/ref") : last;
	}
	if (passed == 0)
		return;
	text_addf(body, "%s%s on ", body->size != 0 ? ", " : "", view_name_in_suite(check));
	if (all == 1)
		text_add(body, last);
	else
		text_addf(body, "%zu of %zu", passed, all);
}

/* Which APIs were shown to work on which devices; no line where none was. */
static void add_apis(struct summary *summary)
{
	struct text body CLEANUP_TEXT = {0};
	for (size_t i = 0; i < summary->findings.view.count; i++) {
		if (!summary->findings.view.checks[i].unproven)
			add_api(&body, &summary->findings.view.checks[i]);
	}
	if (body.size != 0)
		add_line(summary, STYLE_GREEN, "apis", &body);
}

/* Kinds of launches whose end was predicted; no line where none was. */
static void add_predictions(struct summary *summary)
{
	struct text body CLEANUP_TEXT = {0};
	int held = 0;
	int wrong = 0;
	json_each (prediction, json_pointer(summary->report, "/predictions")) {
		const cJSON *agrees = json_pointer(prediction, "/agrees");
		held += cJSON_IsTrue(agrees) ? 1 : 0;
		wrong += cJSON_IsFalse(agrees) ? 1 : 0;
	}
	if (held + wrong == 0)
		return;
	text_addf(&body, "%d kinds of launches ended as the rules of images predict", held);
	if (wrong != 0)
		text_addf(&body, ", %d otherwise", wrong);
	add_line(summary, wrong != 0 ? STYLE_RED : STYLE_GREEN, "images", &body);
}

/* Two lines at most: what fails, for how many checks, what did not run because of it, and what to do. */
static void add_problem(struct summary *summary, const struct finding *problem)
{
	const struct view_check *check = problem->check;
	struct text story CLEANUP_TEXT = {0};
	struct text advice CLEANUP_TEXT = {0};
	finding_add_story(problem, &story);
	text_addf(&story, "%s%s", check->reason[0] != '\0' ? ": " : "", check->reason);
	add_line(summary, STYLE_RED, report_outcome_names[check->outcome], &story);
	text_add(&advice, view_string(check->json, "/advice"));
	if (check->outcome != REPORT_PASS)
		add_cut(summary, STYLE_YELLOW, "  do", &advice, 0);
}

/* As long as there are lines. */
static void add_problems(struct summary *summary, size_t *lines)
{
	const struct finding_list *problems = &summary->findings.problems;
	for (size_t i = 0; i < problems->count && *lines >= 2; i++) {
		add_problem(summary, &problems->items[i]);
		summary->failed_left -= problems->items[i].alike;
		summary->untested_left -= problems->items[i].held;
		*lines -= 2;
	}
}

/* Which rows of expectation files know the failures; no line where there are none. */
static void add_known(struct summary *summary, size_t *lines)
{
	enum { TOLD_MAX = 3 };
	const struct finding_list *expected = &summary->findings.expected;
	struct text body CLEANUP_TEXT = {0};
	if (expected->count == 0 || *lines == 0)
		return;
	text_addf(&body, "%zu failure%s expected by ", expected->checks,
		  expected->checks == 1 ? " is" : "s are");
	for (size_t i = 0; i < expected->count && i < TOLD_MAX; i++)
		text_addf(&body, "%s%s", i > 0 ? ", " : "",
			  view_string(expected->items[i].check->json, "/expected/entry"));
	text_add(&body, expected->count > TOLD_MAX ? ", ..." : "");
	add_line(summary, STYLE_YELLOW, "known", &body);
	*lines -= 1;
}

/* A line for each reason why checks did not run, as long as there are lines. */
static void add_untested(struct summary *summary, size_t lines)
{
	const struct finding_list *untested = &summary->findings.untested;
	for (size_t i = 0; i < untested->count && i < lines; i++) {
		const struct finding *finding = &untested->items[i];
		struct text body CLEANUP_TEXT = {0};
		finding_add_name(finding, &body);
		text_addf(&body, " (%s): %s", report_outcome_names[finding->check->outcome],
			  finding->check->reason);
		add_line(summary, STYLE_YELLOW, "untested", &body);
		summary->untested_left -= finding->alike;
	}
}

/* The last line: the time, where the report is, and how much of it is not told above. */
static void add_rest(struct summary *summary)
{
	const cJSON *overhead = json_pointer(summary->report, "/run/time/overheadPercent");
	struct text body CLEANUP_TEXT = {0};
	if (summary->failed_left + summary->untested_left != 0)
		text_addf(&body,
			  "%zu more failed and %zu more untested checks: ", summary->failed_left,
			  summary->untested_left);
	if (summary->options->location != NULL)
		text_addf(&body, "%s/", summary->options->location);
	text_addf(&body, "report.json (%.1f s, %.1f %% of it the harness' own; exit code %lld)",
		  (double)view_duration(summary->report, "/run/durationMs") / 1000.0,
		  cJSON_IsNumber(overhead) ? overhead->valuedouble : 0.0,
		  (long long)view_int(summary->report, "/verdict/exitCode"));
	add_line(summary, STYLE_BOLD, "report", &body);
}

/* Whoever keeps this line can tell later whether the journal is still that of the run. */
static void add_journal(struct summary *summary)
{
	struct text body CLEANUP_TEXT = {0};
	text_add(&body, view_string(summary->report, "/run/journal/digest"));
	add_cut(summary, STYLE_BOLD, "journal", &body, 0);
}

int summary_write(const cJSON *report, const struct writer_options *options, struct text *out,
		  struct error *err)
{
	struct summary summary = {.report = report, .options = options, .out = out};
	size_t lines = SUMMARY_LINES - FRAME_LINES;
	int rc = findings_open(report, &summary.findings, err);
	if (rc == 0) {
		summary.failed_left = summary.findings.problems.checks;
		summary.untested_left = summary.findings.untested.checks;
		lines -= add_fixed(&summary);
		add_verdict(&summary);
		add_environment(&summary);
		lines -= add_abort(&summary);
		add_works(&summary);
		add_apis(&summary);
		add_predictions(&summary);
		add_problems(&summary, &lines);
		add_known(&summary, &lines);
		add_untested(&summary, lines);
		add_rest(&summary);
		add_journal(&summary);
	}
	findings_free(&summary.findings);
	return rc;
}
