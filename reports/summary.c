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
	size_t lines;			   /* left for problems, known failures, untested checks */
	size_t failed_left, untested_left; /* checks not yet printed */
	struct text *out;
};

/* Escapes the body, and cuts it to `columns`; 0: it is not cut. */
static void add_cut(struct summary *summary, enum style tone, const char *label,
		    const struct text *body, size_t columns)
{
	const bool color = summary->options->color;
	struct text escaped CLEANUP_TEXT = {0};
	size_t size = 0;
	size_t characters = 0;

	view_add_escaped(&escaped, text_string(body));
	for (; size < escaped.size; size++) {
		if (columns != 0 && ((unsigned char)escaped.data[size] & 0xc0) != 0x80 &&
		    characters++ == columns - 1)
			break;
	}
	text_addf(summary->out, "%s%-*s%s", style(color, tone), LABEL_COLUMNS, label,
		  style(color, STYLE_RESET));
	text_append(summary->out, text_string(&escaped), size);
	text_add(summary->out, size != escaped.size ? "…\n" : "\n");
}

/* Cuts the body to the terminal's width. */
static void add_line(struct summary *summary, enum style tone, const char *label,
		     const struct text *body)
{
	int columns = summary->options->columns;
	if (columns != 0)
		columns = columns - LABEL_COLUMNS < BODY_COLUMNS_MIN ? BODY_COLUMNS_MIN
								     : columns - LABEL_COLUMNS;
	add_cut(summary, tone, label, body, (size_t)columns);
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

/* The suites in which checks passed with proof: how many, of all that apply. */
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

/* "vulkan on lavapipe", or on how many of several devices; no line where no API was shown to work. */
static void add_apis(struct summary *summary)
{
	const struct view *view = &summary->findings.view;
	struct text body CLEANUP_TEXT = {0};
	for (size_t i = 0; i < view->count; i++) {
		const struct view_check *check = &view->checks[i];
		const char *last = "";
		size_t passed = 0;
		size_t all = 0;
		if (check->unproven)
			continue;
		json_each (outcome, json_pointer(check->json, "/deviceOutcomes")) {
			all++;
			if (strcmp(view_string(outcome, "/outcome"),
				   report_outcome_names[REPORT_PASS]) != 0)
				continue;
			passed++;
			last = view_string(outcome, "/ref");
		}
		if (passed == 0)
			continue;
		text_addf(&body, "%s%s on ", body.size != 0 ? ", " : "", view_name_in_suite(check));
		if (all == 1)
			text_add(&body, last);
		else
			text_addf(&body, "%zu of %zu", passed, all);
	}
	if (body.size != 0)
		add_line(summary, STYLE_GREEN, "apis", &body);
}

/* How many predictions of launches held; no line where there are none. */
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

/* At most two lines a problem: what fails, for how many checks, what did not run because of it, and what to do. */
static void add_problems(struct summary *summary)
{
	const struct finding_list *problems = &summary->findings.problems;
	for (size_t i = 0; i < problems->count && summary->lines >= 2; i++) {
		const struct finding *problem = &problems->items[i];
		const struct view_check *check = problem->check;
		struct text story CLEANUP_TEXT = {0};
		struct text advice CLEANUP_TEXT = {0};

		finding_add_story(problem, &story);
		text_addf(&story, "%s%s", check->reason[0] != '\0' ? ": " : "", check->reason);
		add_line(summary, STYLE_RED, report_outcome_names[check->outcome], &story);
		text_add(&advice, view_string(check->json, "/advice"));
		if (check->outcome != REPORT_PASS)
			add_cut(summary, STYLE_YELLOW, "  do", &advice, 0);
		summary->failed_left -= problem->alike;
		summary->untested_left -= problem->held;
		summary->lines -= 2;
	}
}

/* The entries of expectation files that match failures; no line where there are none. */
static void add_known(struct summary *summary)
{
	enum { ENTRIES_MAX = 3 };
	const struct finding_list *expected = &summary->findings.expected;
	struct text body CLEANUP_TEXT = {0};
	if (expected->count == 0 || summary->lines == 0)
		return;
	text_addf(&body, "%zu failure%s expected by ", expected->checks,
		  expected->checks == 1 ? " is" : "s are");
	for (size_t i = 0; i < expected->count && i < ENTRIES_MAX; i++)
		text_addf(&body, "%s%s", i > 0 ? ", " : "",
			  view_string(expected->items[i].check->json, "/expected/entry"));
	text_add(&body, expected->count > ENTRIES_MAX ? ", ..." : "");
	add_line(summary, STYLE_YELLOW, "known", &body);
	summary->lines--;
}

/* A line for each reason why checks did not run, while there are lines. */
static void add_untested(struct summary *summary)
{
	const struct finding_list *untested = &summary->findings.untested;
	for (size_t i = 0; i < untested->count && i < summary->lines; i++) {
		const struct finding *finding = &untested->items[i];
		struct text body CLEANUP_TEXT = {0};
		finding_add_name(finding, &body);
		text_addf(&body, " (%s): %s", report_outcome_names[finding->check->outcome],
			  finding->check->reason);
		add_line(summary, STYLE_YELLOW, "untested", &body);
		summary->untested_left -= finding->alike;
	}
}

/* The time, the report's path, and how many checks are not printed above. */
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

int summary_write(const cJSON *report, const struct writer_options *options, struct text *out,
		  struct error *err)
{
	static const enum style tones[] = {[FINDINGS_GOOD] = STYLE_GREEN,
					   [FINDINGS_OPEN] = STYLE_YELLOW,
					   [FINDINGS_BAD] = STYLE_RED};
	const struct findings_headline headline = findings_headline_of(report);
	struct summary summary = {.report = report, .options = options, .out = out};
	struct findings *findings = &summary.findings;
	struct text fixed CLEANUP_TEXT = {0};
	struct text verdict CLEANUP_TEXT = {0};
	struct text aborted CLEANUP_TEXT = {0};
	struct text digest CLEANUP_TEXT = {0};

	int rc = findings_open(report, findings, err);
	if (rc < 0) {
		findings_free(findings);
		return rc;
	}
	summary.lines = SUMMARY_LINES - FRAME_LINES;
	summary.failed_left = findings->problems.checks;
	summary.untested_left = findings->untested.checks;

	if (findings_add_fixed(findings, &fixed)) {
		add_line(&summary, STYLE_GREEN, "FIXED", &fixed);
		summary.lines--;
	}
	findings_add_verdict(report, &verdict);
	add_cut(&summary, tones[headline.tone], headline.word, &verdict, 0);
	add_environment(&summary);
	text_add(&aborted, view_string(report, "/run/abort/reason"));
	if (aborted.size != 0) {
		add_line(&summary, STYLE_RED, "aborted", &aborted);
		summary.lines--;
	}

	add_works(&summary);
	add_apis(&summary);
	add_predictions(&summary);
	add_problems(&summary);
	add_known(&summary);
	add_untested(&summary);
	add_rest(&summary);

	/* Shows later whether a journal is still the run's. */
	text_add(&digest, view_string(report, "/run/journal/digest"));
	add_cut(&summary, STYLE_BOLD, "journal", &digest, 0);
	findings_free(findings);
	return 0;
}
