/* SPDX-License-Identifier: MIT */
/* Checks: those that failed, and all. */
#include "reports/pages/html.h"
#include "reports/pages/report_page.h"

enum {
	FAILURES_MAX = 60,
	ALIKE_MAX = 40,
	ASSERTIONS_MAX = 12,
	NOTES_MAX = 10,
	DETAILS_MAX = 190 * 1024, /* bytes; later checks are listed without details */
};

/* Links to the check, if `linked`, and to the requirement, "must ISO-01", and the severity. */
static void add_meta(struct report_document *it, const struct view_check *check, bool linked)
{
	const char *requirement = view_string(check->json, "/requirement");
	doc_add(it->doc, "<p class=meta>");
	if (linked)
		report_add_check(it, "id", check->id, check->id);
	if (requirement[0] != '\0')
		doc_add(it->doc, "<a class=id href=#r-%s>%s %s</a>", requirement,
			view_string(check->json, "/level"), requirement);
	doc_add(it->doc, "<span>severity %s</span></p>", view_string(check->json, "/severity"));
}

/* The comparisons that did not hold, unless there is only one, which the reason reports; with `held` all comparisons. */
static void add_compared(struct doc *doc, const struct view_check *check, bool held)
{
	static const char *const headings[] = {"What", "Expected", "Got", NULL};
	const cJSON *assertions = json_pointer(check->json, "/assertions");
	size_t failed = 0;
	json_each (assertion, assertions)
		failed += json_pointer_true(assertion, "/ok") ? 0 : 1;
	if (held ? json_first(assertions) == NULL : failed < 2)
		return;
	doc_table(doc, "seen", "Comparisons", NULL, headings);
	for (int ok = 0; ok <= (held ? 1 : 0); ok++) {
		const char *tone = ok == 1 ? "good" : "bad";
		size_t count = 0;
		json_each (assertion, assertions) {
			if (json_pointer_true(assertion, "/ok") == (ok == 1) &&
			    count++ < ASSERTIONS_MAX)
				doc_add(doc, "<tr class=%s><td>%s<td>%s<td>%s", tone,
					view_string(assertion, "/what"),
					view_string(assertion, "/wanted"),
					view_string(assertion, "/saw"));
		}
		if (count > ASSERTIONS_MAX)
			doc_add(doc,
				"<tr class=%s><td colspan=3>and %zu more that %s, in report.json",
				tone, count - ASSERTIONS_MAX, ok == 1 ? "held" : "did not hold");
	}
	doc_end(doc, DOC_BOX);
}

static void add_evidence(struct doc *doc, const struct view_check *check)
{
	const cJSON *evidence = json_pointer(check->json, "/evidence");
	if (json_first(evidence) == NULL)
		return;
	doc_add(doc, "<p class=meta><span>Evidence</span>");
	json_each (item, evidence) {
		doc_add(doc, "<span>");
		html_file_link(doc, view_string(item, "/path"), view_string(item, "/name"));
		doc_add(doc, "%s</span>", json_pointer_true(item, "/truncated") ? " (cut)" : "");
	}
	doc_end(doc, DOC_PARAGRAPH);
}

size_t report_page_count_failures(const struct report_document *it)
{
	return it->findings.problems.checks + it->findings.expected.checks;
}

static void add_failure(struct report_document *it, const struct finding *finding,
			const char *class)
{
	const struct view *view = &it->findings.view;
	const struct view_check *check = finding->check;
	const char *entry = view_expected_by(check->json);
	const char *why = view_string(check->json, "/expected/why");
	const char *advice = view_string(check->json, "/advice");
	size_t listed = 0;
	doc_add(it->doc, "<article class='%s'><h3>", class);
	doc_outcome(it->doc, check->outcome);
	doc_add(it->doc, " %s</h3>", view_string(check->json, "/title"));
	add_meta(it, check, true);
	doc_add(it->doc, "<p class=reason>%s</p>", check->reason);

	/* Why it was expected, and where that is written. */
	if (check->disposition == REPORT_EXPECTED_FAIL ||
	    json_pointer(check->json, "/expected/entry") != NULL) {
		if (check->disposition == REPORT_UNEXPECTED_IMPROVEMENT)
			doc_add(it->doc, "<p><b>Better than expected:</b> remove the expectation ");
		else
			doc_add(it->doc, "<p>Expected by ");
		html_web_link(it->doc, view_string(check->json, "/expected/link"), entry);
		doc_add(it->doc, "%s%s</p>", why[0] != '\0' ? ": " : "", why);
	}
	if (advice[0] != '\0' && check->outcome != REPORT_PASS)
		doc_add(it->doc, "<p class=advice><b>What to do:</b> %s</p>", advice);
	add_compared(it->doc, check, false);
	add_evidence(it->doc, check);

	if (finding->alike > 1) {
		doc_add(it->doc, "<p class=soft>%zu more with this reason:", finding->alike - 1);
		for (size_t i = 0; i < view->count && listed < ALIKE_MAX; i++) {
			if (&view->checks[i] == check || !finding_has(finding, &view->checks[i]))
				continue;
			doc_add(it->doc, "%s", listed++ == 0 ? " " : ", ");
			report_add_check(it, "id", view->checks[i].id, view->checks[i].id);
		}
		doc_add(it->doc, "%s</p>", listed < finding->alike - 1 ? " …" : "");
	}
	if (finding->held != 0)
		doc_add(it->doc, "<p class=soft>%zu check%s not run because of it.</p>",
			finding->held, finding->held == 1 ? "" : "s");
	doc_end(it->doc, DOC_ARTICLE);
}

void report_page_failures(struct report_document *it)
{
	const struct finding_list *const lists[] = {&it->findings.problems, &it->findings.expected};
	size_t left = 0;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		if (i == 1 && lists[i]->count != 0)
			doc_add(it->doc,
				"<h3 class=part>Expected failures <span class=count>%zu</span></h3>",
				lists[i]->checks);
		left += lists[i]->checks;
		for (size_t k = 0; k < lists[i]->count && k < FAILURES_MAX; k++) {
			add_failure(it, &lists[i]->items[k], i == 0 ? "failure" : "failure known");
			left -= lists[i]->items[k].alike;
		}
	}
	if (left != 0)
		doc_add(it->doc, "<p>and %zu more, <a href=#checks>among the checks</a></p>", left);
}

static void add_notes(struct report_document *it, const cJSON *notes)
{
	size_t count = 0;
	if (json_first(notes) == NULL)
		return;
	doc_add(it->doc, "<ul class=notes>");
	json_each (note, notes) {
		if (count++ < NOTES_MAX)
			doc_add(it->doc, "<li>%s",
				cJSON_IsString(note) ? note->valuestring
						     : view_string(note, "/text"));
	}
	doc_end(it->doc, DOC_LIST);
	report_add_more(it, count, NOTES_MAX, "notes");
}

static void add_check(struct report_document *it, const struct view_check *check, bool detailed)
{
	doc_add(it->doc, "<li class=%s id=c-%s data-facet=%s>",
		doc_tone_names[doc_tone_of(check->outcome)], check->id,
		report_outcome_names[check->outcome]);
	if (detailed)
		doc_add(it->doc, "<details><summary>");
	else
		doc_add(it->doc, "<div>");
	doc_outcome(it->doc, check->outcome);
	doc_add(it->doc, "<b class=id>%s</b> <span>%s", check->id,
		view_string(check->json, "/title"));
	if (check->reason[0] != '\0')
		doc_add(it->doc, "<span class=why>%s</span>", check->reason);
	doc_add(it->doc, "</span> <span class=took>");
	if (check->duration_ms != 0)
		doc_duration(it->doc, check->duration_ms);
	if (!detailed)
		return;

	doc_add(it->doc, "</summary><div class=details>");
	add_meta(it, check, false);
	if (check->outcome != REPORT_PASS && check->outcome != REPORT_NOT_APPLICABLE)
		doc_add(it->doc, "<p class=advice>%s</p>", view_string(check->json, "/advice"));
	add_notes(it, json_pointer(check->json, "/notes"));
	add_notes(it, json_pointer(check->json, "/events"));
	add_compared(it->doc, check, true);
	add_evidence(it->doc, check);
}

void report_page_checks(struct report_document *it)
{
	const struct view *view = &it->findings.view;
	const size_t limit = it->doc->out.size + DETAILS_MAX;
	html_filter(it->doc, "checks-list", "checks");
	doc_add(it->doc, "<ul class=checks id=checks-list role=list>");
	for (size_t i = 0; i < view->count; i++)
		add_check(it, &view->checks[i], it->doc->out.size < limit);
	doc_end(it->doc, DOC_LIST);
	if (it->doc->out.size > limit)
		doc_add(it->doc, "<p class=soft>The later checks are listed without details, which "
				 "report.json has.</p>");
}
