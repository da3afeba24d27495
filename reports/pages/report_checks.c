/* SPDX-License-Identifier: MIT */
/* Checks: those that failed, those that were not tested, and all. */
#include "reports/pages/report_page.h"

enum {
	FAILURES_MAX = 60,
	FIRST_MAX = 5, /* below the verdict */
	ALIKE_MAX = 40,
	ASSERTIONS_MAX = 12,
	NOTES_MAX = 10,
	DETAILS_MAX = 190 * 1024, /* bytes; later checks are listed without details */
};

/* Links to the check, if `linked`, and to the requirement, "must ISO-01", and the severity. */
static void add_meta(struct text *out, const struct view_check *check, bool linked)
{
	const char *requirement = view_string(check->json, "/requirement");
	text_add(out, "<p class=\"meta\">");
	if (linked)
		report_page_check_link(out, check->id);
	if (requirement[0] != '\0') {
		html_open_link(out, "id", "", "r-", requirement);
		html_addf(out, "%s %s</a>", view_string(check->json, "/level"), requirement);
	}
	html_addf(out, "<span>severity %s</span></p>\n", view_string(check->json, "/severity"));
}

static void add_assertions(struct text *out, const cJSON *assertions, bool ok)
{
	size_t count = 0;
	json_each (assertion, assertions) {
		if (json_pointer_true(assertion, "/ok") == ok && count++ < ASSERTIONS_MAX)
			html_addf(out, "<tr class=\"%s\"><td>%s</td><td>%s</td><td>%s</td></tr>\n",
				  ok ? "good" : "bad", view_string(assertion, "/what"),
				  view_string(assertion, "/wanted"),
				  view_string(assertion, "/saw"));
	}
	if (count > ASSERTIONS_MAX)
		html_addf(
			out,
			"<tr class=\"%s\"><td colspan=\"3\">and %zu more that %s, in report.json</td></tr>\n",
			ok ? "good" : "bad", count - ASSERTIONS_MAX, ok ? "held" : "did not hold");
}

/* The comparisons that did not hold, unless there is only one, which the reason reports; with `held` all comparisons. */
static void add_compared(struct text *out, const struct view_check *check, bool held)
{
	static const char *const headings[] = {"What", "Expected", "Got", NULL};
	const cJSON *assertions = json_pointer(check->json, "/assertions");
	size_t failed = 0;
	json_each (assertion, assertions)
		failed += json_pointer_true(assertion, "/ok") ? 0 : 1;
	if (held ? json_first(assertions) == NULL : failed < 2)
		return;
	page_table_begin(out, "seen", "Comparisons", NULL, headings);
	add_assertions(out, assertions, false);
	if (held)
		add_assertions(out, assertions, true);
	page_table_end(out);
}

static void add_evidence(struct text *out, const struct view_check *check)
{
	const cJSON *evidence = json_pointer(check->json, "/evidence");
	if (json_first(evidence) == NULL)
		return;
	text_add(out, "<p class=\"meta\"><span>Evidence</span>");
	json_each (item, evidence) {
		text_add(out, "<span>");
		html_file_link(out, view_string(item, "/path"), view_string(item, "/name"));
		text_add(out, json_pointer_true(item, "/truncated") ? " (cut)</span>" : "</span>");
	}
	text_add(out, "</p>\n");
}

size_t report_page_count_failures(const struct report_page *page)
{
	return page->findings->problems.checks + page->findings->expected.checks;
}

static void add_failure(const struct report_page *page, const struct finding *finding,
			const char *class)
{
	const struct view *view = &page->findings->view;
	const struct view_check *check = finding->check;
	const char *entry = view_string(check->json, "/expected/entry");
	const char *why = view_string(check->json, "/expected/why");
	const char *advice = view_string(check->json, "/advice");
	struct text *out = page->out;
	html_addf(out, "<article class=\"%s\">\n<h3>", class);
	page_outcome(out, check->outcome);
	html_addf(out, " %s</h3>\n", view_string(check->json, "/title"));
	add_meta(out, check, true);
	html_addf(out, "<p class=\"reason\">%s</p>\n", check->reason);

	/* Why it was expected, and where that is written. */
	if (entry[0] != '\0') {
		text_add(out, check->disposition == REPORT_UNEXPECTED_IMPROVEMENT
				      ? "<p><b>Better than expected:</b> remove the expectation "
				      : "<p>Expected by ");
		html_web_link(out, view_string(check->json, "/expected/link"), entry);
		html_addf(out, "%s%s</p>\n", why[0] != '\0' ? ": " : "", why);
	}
	if (advice[0] != '\0' && check->outcome != REPORT_PASS)
		html_addf(out, "<p class=\"advice\"><b>What to do:</b> %s</p>\n", advice);
	add_compared(out, check, false);
	add_evidence(out, check);

	if (finding->alike > 1) {
		size_t listed = 0;
		html_addf(out, "<p class=\"soft\">%zu more with this reason:", finding->alike - 1);
		for (size_t i = 0; i < view->count && listed < ALIKE_MAX; i++) {
			if (&view->checks[i] == check || !finding_has(finding, &view->checks[i]))
				continue;
			text_add(out, listed++ == 0 ? " " : ", ");
			report_page_check_link(out, view->checks[i].id);
		}
		text_add(out, listed < finding->alike - 1 ? " …</p>\n" : "</p>\n");
	}
	if (finding->held != 0)
		html_addf(out, "<p class=\"soft\">%zu check%s not run because of it.</p>\n",
			  finding->held, finding->held == 1 ? "" : "s");
	text_add(out, "</article>\n");
}

/* Returns the number of checks that are left out. */
static size_t add_failures(const struct report_page *page, const struct finding_list *list,
			   const char *class)
{
	size_t left = list->checks;
	for (size_t i = 0; i < list->count && i < FAILURES_MAX; i++) {
		add_failure(page, &list->items[i], class);
		left -= list->items[i].alike;
	}
	return left;
}

void report_page_failures(const struct report_page *page)
{
	const struct findings *findings = page->findings;
	size_t left = add_failures(page, &findings->problems, "failure");
	if (findings->expected.count != 0)
		html_addf(
			page->out,
			"<h3 class=\"part\">Expected failures <span class=\"count\">%zu</span></h3>\n",
			findings->expected.checks);
	left += add_failures(page, &findings->expected, "failure known");
	if (left != 0)
		html_addf(page->out,
			  "<p>and %zu more, <a href=\"#checks\">among the checks</a></p>\n", left);
}

static void add_finding(struct text *out, const struct finding *finding)
{
	text_add(out, "<li>");
	page_outcome(out, finding->check->outcome);
	report_page_check_link(out, finding->check->id);
	if (finding->alike > 1)
		html_addf(out, "<span>and %zu more</span>", finding->alike - 1);
	html_addf(out, "<span>%s</span></li>\n", finding->check->reason);
}

void report_page_first_failures(const struct report_page *page)
{
	const struct finding_list *problems = &page->findings->problems;
	const struct finding_list *list =
		problems->count > 0 ? problems : &page->findings->expected;
	size_t left = report_page_count_failures(page);
	if (left == 0)
		return;
	text_add(page->out, "<ul class=\"findings\">\n");
	for (size_t i = 0; i < list->count && i < FIRST_MAX; i++) {
		add_finding(page->out, &list->items[i]);
		left -= list->items[i].alike;
	}
	if (left != 0)
		html_addf(page->out, "<li><a href=\"#failures\">and %zu more</a></li>\n", left);
	text_add(page->out, "</ul>\n");
}

size_t report_page_count_untested(const struct report_page *page)
{
	return page->findings->untested.checks;
}

/* A line for each reason. Checks that a failure held are listed with the failure. */
void report_page_untested(const struct report_page *page)
{
	const struct finding_list *list = &page->findings->untested;
	text_add(page->out, "<ul class=\"findings\">\n");
	for (size_t i = 0; i < list->count && i < FAILURES_MAX; i++)
		add_finding(page->out, &list->items[i]);
	text_add(page->out,
		 list->count != 0
			 ? "</ul>\n"
			 : "<li>All untested checks wait for the failures above.</li></ul>\n");
	page_more(page->out, list->count > FAILURES_MAX ? list->count - FAILURES_MAX : 0,
		  " reasons");
}

static void add_notes(struct text *out, const cJSON *notes)
{
	size_t count = 0;
	if (json_first(notes) == NULL)
		return;
	text_add(out, "<ul class=\"notes\">\n");
	json_each (note, notes) {
		if (count++ < NOTES_MAX)
			html_addf(out, "<li>%s</li>\n",
				  cJSON_IsString(note) ? note->valuestring
						       : view_string(note, "/text"));
	}
	text_add(out, "</ul>\n");
	page_more(out, count > NOTES_MAX ? count - NOTES_MAX : 0, "");
}

static void add_check(struct text *out, const struct view_check *check, bool detailed)
{
	text_add(out, "<li id=\"");
	html_add_id(out, "c-", check->id);
	html_addf(out, "\" class=\"%s\" data-facet=\"%s\">",
		  page_tone_names[page_tone_of(check->outcome)],
		  report_outcome_names[check->outcome]);
	text_add(out, detailed ? "<details><summary>" : "<div>");
	page_outcome(out, check->outcome);
	html_addf(out, "<b class=\"id\">%s</b> <span>%s", check->id,
		  view_string(check->json, "/title"));
	if (check->reason[0] != '\0')
		html_addf(out, "<span class=\"why\">%s</span>", check->reason);
	text_add(out, "</span> <span class=\"took\">");
	if (check->duration_ms != 0)
		page_add_duration(out, check->duration_ms);
	text_add(out, "</span>");
	if (!detailed) {
		text_add(out, "</div></li>\n");
		return;
	}

	text_add(out, "</summary>\n<div class=\"details\">\n");
	add_meta(out, check, false);
	if (check->outcome != REPORT_PASS && check->outcome != REPORT_NOT_APPLICABLE)
		html_addf(out, "<p class=\"advice\">%s</p>\n", view_string(check->json, "/advice"));
	add_notes(out, json_pointer(check->json, "/notes"));
	add_notes(out, json_pointer(check->json, "/events"));
	add_compared(out, check, true);
	add_evidence(out, check);
	text_add(out, "</div></details></li>\n");
}

void report_page_checks(const struct report_page *page)
{
	const struct view *view = &page->findings->view;
	const size_t limit = page->out->size + DETAILS_MAX;
	page_filter(page->out, "checks-list", "checks");
	text_add(page->out, "<ol id=\"checks-list\" class=\"checks\" role=\"list\">\n");
	for (size_t i = 0; i < view->count; i++)
		add_check(page->out, &view->checks[i], page->out->size < limit);
	text_add(page->out, "</ol>\n");
	if (page->out->size > limit)
		text_add(page->out,
			 "<p class=\"soft\">The later checks are listed without details, "
			 "which report.json has.</p>\n");
}
