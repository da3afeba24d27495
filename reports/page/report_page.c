/* SPDX-License-Identifier: MIT */
#include "reports/page/report_page.h"
#include "reports/environment.h"
#include "reports/writer.h"

#include <string.h>

static const struct section {
	struct page_section section;
	const char *lead;
	bool (*has)(const struct report_page *page); /* NULL: always */
	report_page_fn *write;
} sections[] = {
	{{"environment", "Environment"},
	 "What the verdict is about: another driver or build is another report.",
	 NULL,
	 report_page_environment},
	{{"failures", "Failures"}, NULL, report_page_has_failures, report_page_failures},
	{{"apis", "APIs by device"},
	 "What did real work in a container that was given the device.",
	 report_page_has_grid,
	 report_page_grid},
	{{"isolation", "Isolation"},
	 "Which devices of the node each container saw, beside those that it was granted.",
	 report_page_has_isolation,
	 report_page_isolation},
	{{"untested", "Not tested"},
	 "What keeps requirements open, a line for each reason.",
	 report_page_has_untested,
	 report_page_untested},
	{{"checks", "Checks"}, NULL, NULL, report_page_checks},
	{{"requirements", "Requirements"},
	 "What must, should or may hold, and whether the checks of this run prove it.",
	 report_page_has_requirements,
	 report_page_requirements},
	{{"timeline", "Timeline"}, NULL, report_page_has_timeline, report_page_timeline},
	{{"images", "Images"},
	 "What the rules of images predicted of each kind of launch, and what happened.",
	 report_page_has_images,
	 report_page_images},
};

void report_page_clipped(struct text *out, const char *text, size_t most)
{
	size_t shown = text_fit(text, strlen(text), most);
	html_text_part(out, text, shown);
	text_add(out, text[shown] != '\0' ? "…" : "");
}

void report_page_text(struct text *out, const char *text)
{
	report_page_clipped(out, text, PAGE_STRING_MAX);
}

void report_page_fact(struct text *out, const char *name, const char *value)
{
	if (value[0] == '\0')
		return;
	html_element(out, "dt", NULL, name);
	text_add(out, "<dd>");
	report_page_text(out, value);
	text_add(out, "</dd>\n");
}

void report_page_check_link(struct text *out, const char *id)
{
	text_add(out, "<a class=\"id\" href=\"#");
	html_add_id(out, "c-", id);
	text_add(out, "\">");
	report_page_text(out, id);
	text_add(out, "</a>");
}

void report_page_requirement_link(struct text *out, const struct view_check *check)
{
	const char *id = view_string(check->json, "/requirement");
	if (id[0] == '\0')
		return;
	text_add(out, "<a class=\"id\" href=\"#");
	html_add_id(out, "r-", id);
	text_add(out, "\">");
	html_textf(out, "%s %s", view_string(check->json, "/level"), id);
	text_add(out, "</a>");
}

static void add_assertion(struct text *out, const cJSON *assertion)
{
	static const char *const pointers[] = {"/what", "/wanted", "/saw"};
	text_add(out, "<tr>");
	for (size_t i = 0; i < ARRAY_SIZE(pointers); i++) {
		text_add(out, "<td>");
		report_page_text(out, view_string(assertion, pointers[i]));
		text_add(out, "</td>");
	}
	text_add(out, "</tr>\n");
}

void report_page_assertions(struct text *out, const struct view_check *check, bool ok, size_t most)
{
	static const char *const headings[] = {"What", "Wanted", "Saw", NULL};
	size_t count = 0;
	json_each (assertion, json_pointer(check->json, "/assertions")) {
		if (json_pointer_true(assertion, "/ok") != ok || count++ >= most)
			continue;
		if (count == 1) {
			page_table_begin(out, "seen", ok ? "What held" : "What did not hold");
			page_table_head(out, headings);
			text_add(out, "<tbody>\n");
		}
		add_assertion(out, assertion);
	}
	if (count == 0)
		return;
	text_add(out, "</tbody>");
	page_table_end(out);
	if (count > most)
		text_addf(out, "<p class=\"soft\">and %zu more that %s, in report.json</p>\n",
			  count - most, ok ? "held" : "did not hold");
}

void report_page_evidence(struct text *out, const struct view_check *check)
{
	const cJSON *evidence = json_pointer(check->json, "/evidence");
	if (json_first(evidence) == NULL)
		return;
	text_add(out, "<p class=\"evidence\"><span class=\"soft\">Evidence</span>");
	json_each (item, evidence) {
		text_add(out, " ");
		html_file_link(out, view_string(item, "/path"), view_string(item, "/name"));
		if (json_pointer_true(item, "/truncated"))
			text_add(out, " (cut)");
	}
	text_add(out, "</p>\n");
}

/* A number that matters, with what it counts. */
static void add_figure(struct text *out, const char *name, int64_t part, int64_t whole)
{
	if (whole == 0)
		return;
	text_addf(out, "<div><dt>%s</dt><dd>%lld<small> of %lld</small></dd></div>\n", name,
		  (long long)part, (long long)whole);
}

static void add_figures(const struct report_page *page)
{
	static const struct {
		const char *level, *name;
	} levels[] = {{"must", "must satisfied"},
		      {"should", "should satisfied"},
		      {"may", "may satisfied"}};
	const cJSON *report = page->report;
	text_add(page->out, "<dl class=\"figures\">\n");
	add_figure(page->out, "checks passed", view_int(report, "/totals/outcome/pass"),
		   view_int(report, "/totals/checks") -
			   view_int(report, "/totals/outcome/not-applicable"));
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		int64_t satisfied = 0;
		int64_t all = 0;
		json_each (requirement, json_pointer(report, "/requirements")) {
			const char *verdict = view_string(requirement, "/verdict");
			bool counts =
				text_equal(view_string(requirement, "/level"), levels[i].level) &&
				!text_equal(verdict, "not-applicable");
			all += counts ? 1 : 0;
			satisfied += counts && text_equal(verdict, "satisfied") ? 1 : 0;
		}
		add_figure(page->out, levels[i].name, satisfied, all);
	}
	text_add(page->out, "<div><dt>time</dt><dd>");
	page_add_duration(page->out, view_int(report, "/run/durationMs"));
	text_add(page->out, "</dd></div>\n</dl>\n");
}

/* A line beside the headline, after a word in bold unless that is NULL; nothing for an empty one. */
static void add_line(const struct report_page *page, const char *word, const char *line)
{
	if (line[0] == '\0')
		return;
	text_add(page->out, "<p>");
	if (word != NULL)
		html_element(page->out, "b", NULL, word);
	text_add(page->out, " ");
	report_page_text(page->out, line);
	text_add(page->out, "</p>\n");
}

static void add_verdict(const struct report_page *page)
{
	static const enum page_tone tones[] = {[FINDINGS_GOOD] = PAGE_GOOD,
					       [FINDINGS_OPEN] = PAGE_WARN,
					       [FINDINGS_BAD] = PAGE_BAD};
	const struct findings_headline headline = findings_headline_of(page->report);
	struct text verdict CLEANUP_TEXT = {0};
	struct text fixed CLEANUP_TEXT = {0};
	findings_add_verdict(page->report, &verdict);
	(void)findings_add_fixed(page->findings, &fixed);
	text_addf(page->out, "<div class=\"verdict %s\" role=\"status\">\n",
		  page_tone_names[tones[headline.tone]]);
	add_line(page, "Fixed", text_string(&fixed));
	text_addf(page->out, "<p class=\"word\"><i aria-hidden=\"true\">%s</i> %s</p>\n",
		  page_tone_marks[tones[headline.tone]], headline.word);
	add_line(page, NULL, text_string(&verdict));
	add_line(page, "A recorded node:", view_string(page->report, "/environment/node/file"));
	add_line(page, "Aborted", view_string(page->report, "/run/abort/reason"));
	add_figures(page);
	text_add(page->out, "</div>\n");
	page->out->failed = page->out->failed || verdict.failed || fixed.failed;
}

/* "nvidia 552.12 on Windows Server 2022 Datacenter 20348.1547": driver and system, by which reports are told apart. */
static void add_title(const cJSON *report, struct text *title)
{
	environment_add_names("drivers", json_pointer(report, "/environment"), title);
	text_add(title, title->size != 0 ? " on " : "");
	size_t size = title->size;
	environment_add_name("os", json_pointer(report, "/environment/os"), title);
	if (title->size == size)
		text_add(title, size != 0 ? "an unknown system" : "An unknown environment");
}

static void write_page(const struct report_page *page)
{
	struct page_section contents[ARRAY_SIZE(sections) + 1] = {0};
	struct text title CLEANUP_TEXT = {0};
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (sections[i].has == NULL || sections[i].has(page))
			contents[count++] = sections[i].section;
	}
	add_title(page->report, &title);
	page_begin(page->out, &(struct page){"Conformance report", text_string(&title), contents});
	add_verdict(page);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (sections[i].has != NULL && !sections[i].has(page))
			continue;
		page_section_begin(page->out, &sections[i].section, sections[i].lead);
		sections[i].write(page);
		page_section_end(page->out);
	}
	page_end(page->out);
	page->out->failed = page->out->failed || title.failed;
}

int html_write(const cJSON *report, const struct writer_options *options, struct text *out,
	       struct error *err)
{
	struct findings findings CLEANUP_FINDINGS = {0};
	int rc = findings_open(report, &findings, err);
	(void)options;
	if (rc == 0)
		write_page(&(struct report_page){report, &findings, out});
	return rc;
}
