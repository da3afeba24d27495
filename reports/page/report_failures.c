/* SPDX-License-Identifier: MIT */
#include "reports/page/report_page.h"

enum { FAILURES_MAX = 60, ALIKE_MAX = 40 };

size_t report_page_count_failures(const struct report_page *page)
{
	return page->findings->problems.checks + page->findings->expected.checks;
}

/* The other checks that end with the same reason. */
static void add_alike(struct text *out, const struct view *view, const struct finding *finding)
{
	size_t told = 0;
	html_addf(out, "<p class=\"soft\">%zu more with this reason:", finding->alike - 1);
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
	const char *why = view_string(check->json, "/expected/why");
	if (entry[0] == '\0')
		return;
	text_add(out, check->disposition == REPORT_UNEXPECTED_IMPROVEMENT
			      ? "<p><b>Better than expected:</b> remove the expectation "
			      : "<p>Expected by ");
	html_web_link(out, view_string(check->json, "/expected/link"), entry);
	html_addf(out, "%s%s</p>\n", why[0] != '\0' ? ": " : "", why);
}

static void add_failure(const struct report_page *page, const struct finding *finding,
			const char *class)
{
	const struct view_check *check = finding->check;
	const char *advice = view_string(check->json, "/advice");
	struct text *out = page->out;
	html_addf(out, "<article class=\"%s\">\n<h3>", class);
	page_outcome(out, check->outcome);
	html_addf(out, " %s</h3>\n", view_string(check->json, "/title"));
	report_page_meta(out, check, true);
	html_addf(out, "<p class=\"reason\">%s</p>\n", check->reason);
	add_expected(out, check);
	if (advice[0] != '\0' && check->outcome != REPORT_PASS)
		html_addf(out, "<p class=\"advice\"><b>What to do:</b> %s</p>\n", advice);
	report_page_assertions(out, check, false);
	report_page_evidence(out, check);
	if (finding->alike > 1)
		add_alike(out, &page->findings->view, finding);
	if (finding->held != 0)
		html_addf(out, "<p class=\"soft\">%zu check%s not run because of it.</p>\n",
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
		html_addf(
			page->out,
			"<h3 class=\"part\">Expected failures <span class=\"count\">%zu</span></h3>\n",
			findings->expected.checks);
	left += add_list(page, &findings->expected, "failure known");
	if (left != 0)
		html_addf(page->out,
			  "<p>and %zu more, <a href=\"#checks\">among the checks</a></p>\n", left);
}

size_t report_page_count_untested(const struct report_page *page)
{
	return page->findings->untested.checks;
}

/* A line for each reason; what a failure held is told there. */
void report_page_untested(const struct report_page *page)
{
	const struct finding_list *list = &page->findings->untested;
	text_add(page->out, "<ul class=\"untested\">\n");
	for (size_t i = 0; i < list->count && i < FAILURES_MAX; i++) {
		const struct finding *finding = &list->items[i];
		text_add(page->out, "<li>");
		page_outcome(page->out, finding->check->outcome);
		report_page_check_link(page->out, finding->check->id);
		if (finding->alike > 1)
			html_addf(page->out, "<span>and %zu more</span>", finding->alike - 1);
		html_addf(page->out, "<span>%s</span></li>\n", finding->check->reason);
	}
	text_add(page->out, list->count != 0
				    ? "</ul>\n"
				    : "<li>All of it waits for the failures above.</li></ul>\n");
	page_more(page->out, list->count > FAILURES_MAX ? list->count - FAILURES_MAX : 0,
		  " reasons");
}
