/* SPDX-License-Identifier: MIT */
#include "reports/summary.h"

#include "base/style.h"
#include "reports/view.h"

#include <string.h>

enum { LABEL_COLUMNS = 11, BODY_COLUMNS_MIN = 40, FRAME_LINES = 5 };

struct summary {
	const cJSON *report;
	const struct writer_options *options;
	struct view view;
	const struct view_check **problems; /* unexpected failures, the gravest first */
	size_t problem_count;
	struct text *out;
};

/* The bytes of the first `columns` characters. */
static size_t summary_fit(const struct text *body, size_t columns)
{
	size_t characters = 0;

	for (size_t i = 0; i < body->size; i++) {
		if (((unsigned char)body->data[i] & 0xc0) != 0x80 && characters++ == columns)
			return i;
	}
	return body->size;
}

static void summary_add_label(struct summary *summary, enum style tone, const char *label)
{
	bool color = summary->options->color;

	text_addf(summary->out, "%s%-*s%s", style(color, tone), LABEL_COLUMNS, label,
		  style(color, STYLE_RESET));
}

static void summary_add_whole_line(struct summary *summary, enum style tone, const char *label,
				   const struct text *body)
{
	summary->out->failed = summary->out->failed || body->failed;
	summary_add_label(summary, tone, label);
	text_append(summary->out, text_string(body), body->size);
	text_add(summary->out, "\n");
}

static void summary_add_line(struct summary *summary, enum style tone, const char *label,
			     const struct text *body)
{
	int columns = summary->options->columns - LABEL_COLUMNS;
	size_t size = summary_fit(
		body, (size_t)(columns < BODY_COLUMNS_MIN ? BODY_COLUMNS_MIN : columns) - 1);

	if (summary->options->columns == 0 || size == body->size) {
		summary_add_whole_line(summary, tone, label, body);
		return;
	}
	summary->out->failed = summary->out->failed || body->failed;
	summary_add_label(summary, tone, label);
	text_append(summary->out, text_string(body), size);
	text_add(summary->out, "…\n");
}

static void summary_add_escaped(struct text *out, const char *string)
{
	text_add_escaped(out, string, strlen(string));
}

static void summary_add_name(struct text *out, const struct view_check *check)
{
	struct text name CLEANUP_TEXT = {0};

	view_add_name(check, &name);
	out->failed = out->failed || name.failed;
	summary_add_escaped(out, text_string(&name));
}

struct summary_headline {
	enum style tone;
	const char *label;
};

/* PASSED is said of what is conformant alone. */
static const struct summary_headline *summary_headline_of(const cJSON *report)
{
	const char *result = view_string(report, "/verdict/conformance/result");
	bool violated = strcmp(result, "violated") == 0;
	bool conformant = strcmp(result, "conformant") == 0;
	bool unexpected =
		strcmp(view_string(report, "/verdict/expectation/result"), "unexpected") == 0;
	static const struct summary_headline passed = {STYLE_GREEN, "PASSED"};
	static const struct summary_headline partial = {STYLE_YELLOW, "PARTIAL"};
	static const struct summary_headline required = {STYLE_RED, "PARTIAL"};
	static const struct summary_headline expected = {STYLE_YELLOW, "EXPECTED"};
	static const struct summary_headline failed = {STYLE_RED, "FAILED"};
	static const struct summary_headline broken = {STYLE_RED, "BROKEN"};
	static const struct summary_headline incomplete = {STYLE_YELLOW, "INCOMPLETE"};
	static const struct summary_headline too_few = {STYLE_YELLOW, "TOO FEW"};

	switch (view_int(report, "/verdict/exitCode")) {
	case REPORT_EXIT_EXPECTED:
		if (conformant)
			return &passed;
		return violated ? &expected : &partial;
	case REPORT_EXIT_UNEXPECTED:
		return violated || unexpected ? &failed : &required;
	case REPORT_EXIT_INCOMPLETE:
		return &incomplete;
	case REPORT_EXIT_TOO_FEW:
		return &too_few;
	default:
		return &broken;
	}
}

/* The verdict and the counts. */
static void summary_add_verdict(struct summary *summary)
{
	const cJSON *report = summary->report;
	const char *state = view_string(report, "/run/state");
	const cJSON *outcomes = json_pointer(report, "/totals/outcome");
	const cJSON *outcome = NULL;
	struct text conformance CLEANUP_TEXT = {0};
	struct text body CLEANUP_TEXT = {0};
	const struct summary_headline *headline = summary_headline_of(report);

	text_addf(&body, "%lld of %lld checks passed",
		  (long long)view_int(report, "/totals/outcome/pass"),
		  (long long)view_int(report, "/totals/checks"));
	cJSON_ArrayForEach (outcome, outcomes) {
		if (outcome->valueint != 0 && strcmp(outcome->string, "pass") != 0)
			text_addf(&body, ", %d %s", outcome->valueint, outcome->string);
	}
	if (strcmp(state, "complete") != 0)
		text_addf(&body, "; run %s", state);
	view_add_conformance(report, &conformance);
	text_add(&body, "; ");
	summary_add_escaped(&body, text_string(&conformance));
	body.failed = body.failed || conformance.failed;
	summary_add_line(summary, headline->tone, headline->label, &body);
}

static void summary_add_part(struct text *body, const char *name, const char *version)
{
	if (name[0] == '\0')
		return;
	text_add(body, body->size != 0 ? ", " : "");
	summary_add_escaped(body, name);
	text_add(body, version[0] != '\0' ? " " : "");
	summary_add_escaped(body, version);
}

/* The system of a node that is not this machine, and what stood in for it. */
static void summary_add_stand_in(struct text *body, const cJSON *report)
{
	summary_add_part(body, view_string(report, "/environment/os/product"),
			 view_string(report, "/environment/os/version"));
	text_add(body, strcmp(view_string(report, "/environment/node/kind"), "wine") == 0
			       ? "; run on "
			       : "; replayed on ");
	summary_add_escaped(body, view_string(report, "/environment/node/machine/product"));
}

/* Nothing when the node is this machine, or not known. */
static void summary_add_kind(struct text *body, const cJSON *report)
{
	const char *kind = view_string(report, "/environment/node/kind");

	if (strcmp(kind, "recorded") == 0) {
		text_add(body, "a recorded node (");
		summary_add_escaped(body, view_string(report, "/environment/node/file"));
		text_add(body, "): ");
	} else if (strcmp(kind, "wine") == 0) {
		text_add(body, "a Windows node under Wine: ");
	}
}

/* What the report is about. */
static void summary_add_environment(struct summary *summary)
{
	const cJSON *report = summary->report;
	const cJSON *device = NULL;
	struct text body CLEANUP_TEXT = {0};
	struct text parts CLEANUP_TEXT = {0};

	cJSON_ArrayForEach (device, json_pointer(report, "/environment/devices")) {
		summary_add_part(&parts, view_string(device, "/name"), "");
	}
	summary_add_kind(&body, report);
	if (body.size != 0)
		summary_add_stand_in(&parts, report);
	summary_add_part(&parts, view_string(report, "/environment/plugin/name"),
			 view_string(report, "/environment/plugin/version"));
	summary_add_part(&parts, view_string(report, "/environment/runtime/name"),
			 view_string(report, "/environment/runtime/version"));
	if (body.size == 0)
		summary_add_part(&parts, view_string(report, "/environment/os/product"), "");
	text_add(&body, parts.size != 0 ? text_string(&parts) : "an unknown environment");
	body.failed = body.failed || parts.failed;
	summary_add_line(summary, STYLE_BOLD, "on", &body);
}

/* Why the runner gave up, if it did. Returns the lines used. */
static size_t summary_add_abort(struct summary *summary)
{
	const char *reason = view_string(summary->report, "/run/abort/reason");
	struct text body CLEANUP_TEXT = {0};

	if (reason[0] == '\0')
		return 0;
	summary_add_escaped(&body, reason);
	summary_add_line(summary, STYLE_RED, "aborted", &body);
	return 1;
}

/* Passed and all checks of each suite in which something passed and proves what it is about. */
static void summary_add_works(struct summary *summary)
{
	const struct view *view = &summary->view;
	struct text body CLEANUP_TEXT = {0};

	for (size_t i = 0; i < view->count; i++) {
		const struct view_check *head = &view->checks[i];
		size_t passed = 0;
		size_t all = 0;
		bool first = true;

		for (size_t k = 0; k < i && first; k++)
			first = !view_same_suite(head, &view->checks[k]);
		for (size_t k = i; first && k < view->count; k++) {
			if (!view_same_suite(head, &view->checks[k]))
				continue;
			all++;
			passed +=
				view->checks[k].outcome == REPORT_PASS && !view->checks[k].unproven
					? 1
					: 0;
		}
		if (passed == 0)
			continue;
		text_add(&body, body.size != 0 ? ", " : "");
		text_add_escaped(&body, head->id, view_suite_size(head));
		text_addf(&body, " %zu/%zu", passed, all);
	}
	if (body.size == 0)
		text_add(&body, "nothing was shown to work");
	summary_add_line(summary, STYLE_GREEN, "works", &body);
}

static bool summary_is_problem(const struct view_check *check)
{
	return text_equal(check->disposition, report_disposition_name(REPORT_UNEXPECTED_FAIL)) ||
	       text_equal(check->disposition,
			  report_disposition_name(REPORT_UNEXPECTED_IMPROVEMENT));
}

static size_t summary_rank(const char *word, const char *const *words, size_t count)
{
	size_t rank = 0;

	while (rank < count && !text_equal(word, words[rank]))
		rank++;
	return rank;
}

static int summary_compare(const void *a, const void *b)
{
	static const char *const levels[] = {"must", "should", "may"};
	static const char *const severities[] = {"critical", "high", "medium", "low"};
	const struct view_check *left = *(const struct view_check *const *)a;
	const struct view_check *right = *(const struct view_check *const *)b;
	size_t left_rank = summary_rank(left->level, levels, 3) * 8 +
			   summary_rank(left->severity, severities, 4);
	size_t right_rank = summary_rank(right->level, levels, 3) * 8 +
			    summary_rank(right->severity, severities, 4);

	if (left_rank != right_rank)
		return left_rank < right_rank ? -1 : 1;
	return left < right ? -1 : left > right;
}

static int summary_find_problems(struct summary *summary, struct error *err)
{
	summary->problems = calloc(summary->view.count + 1, sizeof(struct view_check *));
	if (summary->problems == NULL)
		return error_memory(err);
	for (size_t i = 0; i < summary->view.count; i++) {
		if (summary_is_problem(&summary->view.checks[i]))
			summary->problems[summary->problem_count++] = &summary->view.checks[i];
	}
	qsort(summary->problems, summary->problem_count, sizeof(struct view_check *),
	      summary_compare);
	return 0;
}

static bool summary_same_problem(const struct view_check *a, const struct view_check *b)
{
	return a->outcome == b->outcome && strcmp(a->reason, b->reason) == 0;
}

/* Whether an earlier problem has the same reason, and so stands for this one. */
static bool summary_is_told(const struct summary *summary, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (summary_same_problem(summary->problems[i], summary->problems[index]))
			return true;
	}
	return false;
}

static bool summary_is_held_by(const struct view_check *check, const struct view_check *cause)
{
	return check->cause != NULL && text_equal(check->cause, cause->id);
}

/* The checks that did not run because of this one. */
static size_t summary_count_held(const struct view *view, const struct view_check *cause)
{
	size_t count = 0;

	for (size_t i = 0; i < view->count; i++)
		count += summary_is_held_by(&view->checks[i], cause) ? 1 : 0;
	return count;
}

/* Whether the check did not run because of one of the problems, which tells of it. */
static bool summary_is_held(const struct summary *summary, const struct view_check *check)
{
	for (size_t i = 0; i < summary->problem_count; i++) {
		if (summary_is_held_by(check, summary->problems[i]))
			return true;
	}
	return false;
}

/* Two lines: what fails, for how many checks, what did not run because of it, and what to do. */
static void summary_add_problem(struct summary *summary, size_t index, size_t alike, size_t held)
{
	const struct view_check *check = summary->problems[index];
	struct text body CLEANUP_TEXT = {0};
	struct text advice CLEANUP_TEXT = {0};

	summary_add_name(&body, check);
	if (alike > 1)
		text_addf(&body, " and %zu more", alike - 1);
	if (check->requirement != NULL) {
		text_addf(&body, " (%s ", check->level);
		summary_add_escaped(&body, check->requirement);
		text_add(&body, ")");
	}
	if (held != 0)
		text_addf(&body, ", %zu check%s not run because of it", held, held == 1 ? "" : "s");
	text_add(&body, ": ");
	if (!report_outcome_is_bad(check->outcome))
		text_add(&body, "better than expected: remove the expectation");
	summary_add_escaped(&body, check->reason);
	summary_add_line(summary, STYLE_RED, report_outcome_name(check->outcome), &body);
	summary_add_escaped(&advice, check->advice);
	summary_add_whole_line(summary, STYLE_YELLOW, "  do", &advice);
}

/* Problems with one reason are told once. Returns the lines used; *told counts the problems
 * covered, *held the checks that they kept from running. */
static size_t summary_add_problems(struct summary *summary, size_t lines, size_t *told,
				   size_t *held)
{
	size_t used = 0;

	for (size_t i = 0; i < summary->problem_count && used + 2 <= lines; i++) {
		size_t alike = 0;
		size_t held_here = 0;

		if (summary_is_told(summary, i))
			continue;
		for (size_t k = i; k < summary->problem_count; k++) {
			if (!summary_same_problem(summary->problems[i], summary->problems[k]))
				continue;
			alike++;
			held_here += summary_count_held(&summary->view, summary->problems[k]);
		}
		summary_add_problem(summary, i, alike, held_here);
		*told += alike;
		*held += held_here;
		used += 2;
	}
	return used;
}

static bool summary_is_untested(const struct view_check *check)
{
	return check->outcome == REPORT_UNSUPPORTED || check->outcome == REPORT_SKIP ||
	       check->outcome == REPORT_NOTRUN || check->unproven;
}

/* A line for each reason why checks did not run, unless a problem tells it, as long as there are
 * lines. */
static void summary_add_untested(struct summary *summary, size_t lines, size_t *told)
{
	const struct view *view = &summary->view;

	for (size_t i = 0; i < view->count && lines > 0; i++) {
		const struct view_check *check = &view->checks[i];
		struct text body CLEANUP_TEXT = {0};
		size_t alike = 0;
		bool first = summary_is_untested(check) && !summary_is_held(summary, check);

		for (size_t k = 0; k < i && first; k++)
			first = !summary_same_problem(check, &view->checks[k]);
		if (!first)
			continue;
		for (size_t k = i; k < view->count; k++)
			alike += summary_same_problem(check, &view->checks[k]) ? 1 : 0;
		summary_add_name(&body, check);
		if (alike > 1)
			text_addf(&body, " and %zu more", alike - 1);
		text_addf(&body, " (%s): ", report_outcome_name(check->outcome));
		summary_add_escaped(&body, check->reason);
		summary_add_line(summary, STYLE_YELLOW, "untested", &body);
		*told += alike;
		lines--;
	}
}

/* The last line: the time, where the report is, and how much of it is not told above. */
static void summary_add_rest(struct summary *summary, size_t problems, size_t untested)
{
	const cJSON *overhead = json_pointer(summary->report, "/run/time/overheadPercent");
	struct text body CLEANUP_TEXT = {0};

	if (problems + untested != 0)
		text_addf(&body, "%zu more failed and %zu more untested checks: ", problems,
			  untested);
	if (summary->options->location != NULL) {
		summary_add_escaped(&body, summary->options->location);
		text_add(&body, "/report.json");
	} else {
		text_add(&body, "report.json");
	}
	text_addf(&body, " (%.1f s, %.1f %% of it the harness' own; exit code %lld)",
		  (double)view_int(summary->report, "/run/durationMs") / 1000.0,
		  cJSON_IsNumber(overhead) ? overhead->valuedouble : 0.0,
		  (long long)view_int(summary->report, "/verdict/exitCode"));
	summary_add_line(summary, STYLE_BOLD, "report", &body);
}

/* Whoever keeps this line can tell later whether the journal is still that of the run. */
static void summary_add_journal(struct summary *summary)
{
	struct text body CLEANUP_TEXT = {0};

	summary_add_escaped(&body, view_string(summary->report, "/run/journal/digest"));
	summary_add_whole_line(summary, STYLE_BOLD, "journal", &body);
}

static size_t summary_count_untested(const struct view *view)
{
	size_t count = 0;

	for (size_t i = 0; i < view->count; i++)
		count += summary_is_untested(&view->checks[i]) ? 1 : 0;
	return count;
}

static int summary_write(const cJSON *report, const struct writer_options *options,
			 struct text *out, struct error *err)
{
	struct summary summary = {.report = report, .options = options, .out = out};
	size_t lines = SUMMARY_LINES - FRAME_LINES;
	size_t problems_told = 0;
	size_t untested_told = 0;
	int rc = view_open(report, &summary.view, err);

	rc = rc == 0 ? summary_find_problems(&summary, err) : rc;
	if (rc == 0) {
		summary_add_verdict(&summary);
		summary_add_environment(&summary);
		lines -= summary_add_abort(&summary);
		summary_add_works(&summary);
		lines -= summary_add_problems(&summary, lines, &problems_told, &untested_told);
		summary_add_untested(&summary, lines, &untested_told);
		summary_add_rest(&summary, summary.problem_count - problems_told,
				 summary_count_untested(&summary.view) - untested_told);
		summary_add_journal(&summary);
	}
	free(summary.problems);
	view_free(&summary.view);
	return rc;
}

const struct writer writer_summary = {
	.name = "summary",
	.media = "text/plain",
	.write = summary_write,
};
