/* SPDX-License-Identifier: MIT */
#include "reports/page/report_page.h"

enum { FAILURES_MAX = 60, ALIKE_MAX = 40, ASSERTIONS_MAX = 12 };

bool report_page_has_failures(const struct report_page *page)
{
	return page->findings->problems.count + page->findings->expected.count != 0;
}

/* The other checks that end with the same reason. */
static void add_alike(struct text *out, const struct view *view, const struct finding *finding)
{
	size_t told = 0;
	text_addf(out, "<p class=\"soft\">%zu more with this reason:", finding->alike - 1);
	for (size_t i = 0; i < view->count && told < ALIKE_MAX; i++) {
		if (&view->checks[i] == finding->check || !finding_has(finding, &view->checks[i]))
			continue;
		text_add(out, told++ == 0 ? " " : ", ");
		report_page_check_link(out, view->checks[i].id);
	}
	text_add(out, told < finding->alike - 1 ? " …</p>\n" : "</p>\n");
}

/* Why it was expected, and where that is written. */
static void add_expected(struct text *out, const struct view_check *check)
{
	const char *entry = view_string(check->json, "/expected/entry");
	if (entry[0] == '\0')
		return;
	text_add(out, "<p>");
	if (check->disposition == REPORT_UNEXPECTED_IMPROVEMENT)
		text_add(out, "<b>Better than expected:</b> remove the expectation ");
	else
		text_add(out, "Expected by ");
	html_web_link(out, view_string(check->json, "/expected/link"), entry);
	text_add(out, view_string(check->json, "/expected/why")[0] != '\0' ? ": " : "");
	report_page_text(out, view_string(check->json, "/expected/why"));
	text_add(out, "</p>\n");
}

static void add_failure(const struct report_page *page, const struct finding *finding,
			const char *class)
{
	const struct view_check *check = finding->check;
	const char *advice = view_string(check->json, "/advice");
	struct text *out = page->out;
	html_open(out, "article", "class", class, NULL);
	text_add(out, "<h3>");
	page_badge(out, page_tone_of(check->outcome), report_outcome_names[check->outcome]);
	text_add(out, " ");
	report_page_text(out, view_string(check->json, "/title"));
	text_add(out, "</h3>\n<p class=\"meta\">");
	report_page_check_link(out, check->id);
	text_add(out, " ");
	report_page_requirement_link(out, check);
	html_textf(out, " severity %s", view_string(check->json, "/severity"));
	text_add(out, "</p>\n<p class=\"reason\">");
	report_page_text(out, check->reason);
	text_add(out, "</p>\n");
	add_expected(out, check);
	if (advice[0] != '\0' && check->outcome != REPORT_PASS) {
		text_add(out, "<p class=\"advice\"><b>What to do:</b> ");
		report_page_text(out, advice);
		text_add(out, "</p>\n");
	}
	report_page_assertions(out, check, false, ASSERTIONS_MAX);
	report_page_evidence(out, check);
	if (finding->alike > 1)
		add_alike(out, &page->findings->view, finding);
	if (finding->held != 0)
		text_addf(out, "<p class=\"soft\">%zu check%s not run because of it.</p>\n",
			  finding->held, finding->held == 1 ? "" : "s");
	text_add(out, "</article>\n");
}

/* Returns how many checks are not told. */
static size_t add_list(const struct report_page *page, const struct finding_list *list,
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
	size_t left = add_list(page, &findings->problems, "failure");
	if (findings->expected.count != 0)
		text_addf(
			page->out,
			"<h3 class=\"part\">Expected failures <span class=\"soft\">%zu</span></h3>\n",
			findings->expected.checks);
	left += add_list(page, &findings->expected, "failure known");
	if (left != 0)
		text_addf(page->out,
			  "<p>and %zu more, <a href=\"#checks\">among the checks</a></p>\n", left);
}

bool report_page_has_untested(const struct report_page *page)
{
	return page->findings->untested.count != 0;
}

void report_page_untested(const struct report_page *page)
{
	const struct finding_list *list = &page->findings->untested;
	text_add(page->out, "<ul class=\"untested\">\n");
	for (size_t i = 0; i < list->count && i < FAILURES_MAX; i++) {
		const struct finding *finding = &list->items[i];
		text_add(page->out, "<li>");
		report_page_check_link(page->out, finding->check->id);
		if (finding->alike > 1)
			text_addf(page->out, " and %zu more", finding->alike - 1);
		text_addf(page->out, " (%s): ", report_outcome_names[finding->check->outcome]);
		report_page_text(page->out, finding->check->reason);
		text_add(page->out, "</li>\n");
	}
	text_add(page->out, "</ul>\n");
}
