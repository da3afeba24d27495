/* SPDX-License-Identifier: MIT */
#include "base/style.h"
#include "reports/findings.h"
#include "reports/writer.h"

#include <string.h>

enum { LABEL_COLUMNS = 11, BODY_COLUMNS_MIN = 40, FRAME_LINES = 7 };

struct summary {
	const cJSON *report;
	const struct writer_options *options;
	struct findings findings;
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

static void add_whole_line(struct summary *summary, enum style tone, const char *label,
			   const struct text *body)
{
	bool color = summary->options->color;
	text_addf(summary->out, "%s%-*s%s", style(color, tone), LABEL_COLUMNS, label,
		  style(color, STYLE_RESET));
	text_add_all(summary->out, body);
	text_add(summary->out, "\n");
}

static void add_line(struct summary *summary, enum style tone, const char *label, struct text *body)
{
	int columns = summary->options->columns - LABEL_COLUMNS;
	size_t size =
		fit(body, (size_t)(columns < BODY_COLUMNS_MIN ? BODY_COLUMNS_MIN : columns) - 1);
	if (summary->options->columns != 0 && size != body->size) {
		body->size = size;
		text_add(body, "…");
	}
	add_whole_line(summary, tone, label, body);
}

static void add_escaped(struct text *out, const char *string)
{
	text_add_escaped(out, string, strlen(string));
}

/* The verdict and the counts. */
static void add_verdict(struct summary *summary)
{
	static const enum style tones[] = {[FINDINGS_GOOD] = STYLE_GREEN,
					   [FINDINGS_OPEN] = STYLE_YELLOW,
					   [FINDINGS_BAD] = STYLE_RED};
	const struct findings_headline headline = findings_headline_of(summary->report);
	struct text verdict CLEANUP_TEXT = {0};
	struct text body CLEANUP_TEXT = {0};
	findings_add_verdict(summary->report, &verdict);
	add_escaped(&body, text_string(&verdict));
	body.failed = body.failed || verdict.failed;
	add_line(summary, tones[headline.tone], headline.word, &body);
}

/* A name and its version, if it has one; nothing when it is not known. */
static void add_part(struct text *body, const cJSON *object, const char *name, const char *version)
{
	const char *name_text = view_string(object, name);
	const char *version_text = view_string(object, version);
	if (name_text[0] == '\0')
		return;
	text_add(body, body->size != 0 ? ", " : "");
	add_escaped(body, name_text);
	text_add(body, version_text[0] != '\0' ? " " : "");
	add_escaped(body, version_text);
}

/* Returns the lines used. */
static size_t add_fixed(struct summary *summary)
{
	struct text body CLEANUP_TEXT = {0};
	struct text fixed CLEANUP_TEXT = {0};
	if (!findings_add_fixed(&summary->findings, &fixed))
		return 0;
	add_escaped(&body, text_string(&fixed));
	body.failed = body.failed || fixed.failed;
	add_line(summary, STYLE_GREEN, "FIXED", &body);
	return 1;
}

/* What the report is about. */
static void add_environment(struct summary *summary)
{
	const cJSON *environment = json_pointer(summary->report, "/environment");
	const char *kind = view_string(environment, "/node/kind");
	bool is_wine = strcmp(kind, "wine") == 0;
	bool is_recorded = strcmp(kind, "recorded") == 0;
	struct text body CLEANUP_TEXT = {0};
	struct text parts CLEANUP_TEXT = {0};
	json_each (device, json_pointer(environment, "/devices")) {
		add_part(&parts, device, "/name", "");
	}
	if (is_recorded) {
		text_add(&body, "a recorded node (");
		add_escaped(&body, view_string(environment, "/node/file"));
		text_add(&body, "): ");
	} else if (is_wine) {
		text_add(&body, "a Windows node under Wine: ");
	}
	/* The system of a node that is not this machine, and what stood in for it. */
	if (is_recorded || is_wine) {
		add_part(&parts, environment, "/os/product", "/os/version");
		text_add(&parts, is_wine ? "; run on " : "; replayed on ");
		add_escaped(&parts, view_string(environment, "/node/machine/product"));
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
	const char *reason = view_string(summary->report, "/run/abort/reason");
	struct text body CLEANUP_TEXT = {0};
	if (reason[0] == '\0')
		return 0;
	add_escaped(&body, reason);
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
		for (size_t k = i; k < view->count; k++) {
			const struct view_check *check = &view->checks[k];
			if (!view_same_suite(head, check) ||
			    check->outcome == REPORT_NOT_APPLICABLE)
				continue;
			all++;
			passed += check->outcome == REPORT_PASS && !check->unproven ? 1 : 0;
		}
		if (passed == 0 || !view_begins_suite(view, i))
			continue;
		text_add(&body, body.size != 0 ? ", " : "");
		text_add_escaped(&body, head->id, view_suite_size(head));
		text_addf(&body, " %zu/%zu", passed, all);
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
	text_add(body, body->size != 0 ? ", " : "");
	add_escaped(body, check->id + view_suite_size(check) + 1);
	text_add(body, " on ");
	if (all == 1)
		add_escaped(body, last);
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

static void add_name(struct text *body, const struct view_check *check, size_t alike)
{
	add_escaped(body, check->id);
	if (alike > 1)
		text_addf(body, " and %zu more", alike - 1);
}

/* Two lines: what fails, for how many checks, what did not run because of it, and what to do. */
static void add_problem(struct summary *summary, const struct view_check *check, size_t alike,
			size_t held)
{
	const char *requirement = view_string(check->json, "/requirement");
	struct text body CLEANUP_TEXT = {0};
	struct text advice CLEANUP_TEXT = {0};
	add_name(&body, check, alike);
	if (requirement[0] != '\0') {
		text_add(&body, " (");
		add_escaped(&body, view_string(check->json, "/level"));
		text_add(&body, " ");
		add_escaped(&body, requirement);
		text_add(&body, ")");
	}
	if (held != 0)
		text_addf(&body, ", %zu check%s not run because of it", held, held == 1 ? "" : "s");
	text_add(&body, ": ");
	if (!report_outcome_is_bad(check->outcome))
		text_add(&body, "better than expected: remove the expectation");
	add_escaped(&body, check->reason);
	add_line(summary, STYLE_RED, report_outcome_names[check->outcome], &body);
	add_escaped(&advice, view_string(check->json, "/advice"));
	add_whole_line(summary, STYLE_YELLOW, "  do", &advice);
}

/* Problems with one reason are told once, as long as there are lines. */
static void add_problems(struct summary *summary, size_t *lines)
{
	struct finding_list *problems = &summary->findings.problems;
	for (size_t i = 0; i < problems->count && *lines >= 2; i++) {
		size_t alike = findings_alike(problems, i);
		size_t held =
			alike != 0 ? findings_held(&summary->findings, problems->checks[i]) : 0;
		if (alike == 0)
			continue;
		add_problem(summary, problems->checks[i], alike, held);
		problems->told += alike;
		summary->findings.untested.told += held;
		*lines -= 2;
	}
}

/* A line for each reason why checks did not run, unless a problem tells it, as long as there are
 * lines. */
static void add_untested(struct summary *summary, size_t lines)
{
	struct finding_list *untested = &summary->findings.untested;
	for (size_t i = 0; i < untested->count && lines > 0; i++) {
		const struct view_check *check = untested->checks[i];
		size_t alike = findings_alike(untested, i);
		struct text body CLEANUP_TEXT = {0};
		if (alike == 0 || findings_is_held(&summary->findings, check))
			continue;
		add_name(&body, check, alike);
		text_addf(&body, " (%s): ", report_outcome_names[check->outcome]);
		add_escaped(&body, check->reason);
		add_line(summary, STYLE_YELLOW, "untested", &body);
		untested->told += alike;
		lines--;
	}
}

/* The last line: the time, where the report is, and how much of it is not told above. */
static void add_rest(struct summary *summary)
{
	const cJSON *overhead = json_pointer(summary->report, "/run/time/overheadPercent");
	size_t problems = findings_left(&summary->findings.problems);
	size_t untested = findings_left(&summary->findings.untested);
	struct text body CLEANUP_TEXT = {0};
	if (problems + untested != 0)
		text_addf(&body, "%zu more failed and %zu more untested checks: ", problems,
			  untested);
	if (summary->options->location != NULL) {
		add_escaped(&body, summary->options->location);
		text_add(&body, "/report.json");
	} else {
		text_add(&body, "report.json");
	}
	text_addf(&body, " (%.1f s, %.1f %% of it the harness' own; exit code %lld)",
		  (double)view_duration(summary->report, "/run/durationMs") / 1000.0,
		  cJSON_IsNumber(overhead) ? overhead->valuedouble : 0.0,
		  (long long)view_int(summary->report, "/verdict/exitCode"));
	add_line(summary, STYLE_BOLD, "report", &body);
}

/* Whoever keeps this line can tell later whether the journal is still that of the run. */
static void add_journal(struct summary *summary)
{
	struct text body CLEANUP_TEXT = {0};
	add_escaped(&body, view_string(summary->report, "/run/journal/digest"));
	add_whole_line(summary, STYLE_BOLD, "journal", &body);
}

int summary_write(const cJSON *report, const struct writer_options *options, struct text *out,
		  struct error *err)
{
	struct summary summary = {.report = report, .options = options, .out = out};
	size_t lines = SUMMARY_LINES - FRAME_LINES;
	int rc = findings_open(report, &summary.findings, err);
	if (rc == 0) {
		lines -= add_fixed(&summary);
		add_verdict(&summary);
		add_environment(&summary);
		lines -= add_abort(&summary);
		add_works(&summary);
		add_apis(&summary);
		add_predictions(&summary);
		add_problems(&summary, &lines);
		add_untested(&summary, lines);
		add_rest(&summary);
		add_journal(&summary);
	}
	findings_free(&summary.findings);
	return rc;
}
