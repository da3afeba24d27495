/* SPDX-License-Identifier: MIT */
#include "reports/pages/report_page.h"
#include "reports/environment.h"
#include "reports/writer.h"

#include <string.h>

enum { NARROW_MAX = 8 };

static const struct section {
	const char *id, *heading, *lead;
	const char *list;	     /* the array of the report that it is about, or */
	report_page_count_fn *count; /* what counts; without both it is always there */
	report_page_fn *write;
} sections[] = {
	{"failures", "Failures", NULL, NULL, report_page_count_failures, report_page_failures},
	{"environment", "Environment",
	 "What the verdict is about: another driver or build is another report.", NULL, NULL,
	 report_page_environment},
	{"apis", "APIs by device", "What did real work in a container that was given the device.",
	 NULL, report_page_count_apis, report_page_grid},
	{"isolation", "Isolation",
	 "Which devices of the node each container saw, beside those that it was granted.", NULL,
	 report_page_count_containers, report_page_isolation},
	{"untested", "Not tested", "What keeps requirements open, a line for each reason.", NULL,
	 report_page_count_untested, report_page_untested},
	{"checks", "Checks", NULL, "/checks", NULL, report_page_checks},
	{"requirements", "Requirements",
	 "What must, should or may hold, and whether the checks of this run prove it.",
	 "/requirements", NULL, report_page_requirements},
	{"timeline", "Timeline", NULL, NULL, NULL, report_page_timeline},
	{"images", "Images",
	 "What the rules of images predicted of each kind of launch, and what happened.",
	 "/predictions", NULL, report_page_images},
};

const cJSON *report_page_devices(const struct report_page *page)
{
	return json_pointer(page->report, "/environment/devices");
}

bool report_page_is_dense(const struct report_page *page)
{
	return cJSON_GetArraySize(report_page_devices(page)) > NARROW_MAX;
}

void report_page_check_link(struct text *out, const char *id)
{
	html_open_link(out, "id", "", "c-", id);
	html_addf(out, "%s</a>", id);
}

/* How the checks ended; what does not apply is left out. */
static void add_bar(const struct report_page *page)
{
	const struct view *view = &page->findings->view;
	int64_t sizes[PAGE_TONE_COUNT] = {0};
	for (size_t i = 0; i < view->count; i++) {
		if (view->checks[i].outcome != REPORT_NOT_APPLICABLE)
			sizes[page_tone_of(view->checks[i].outcome)]++;
	}
	if (view->count != 0)
		report_page_bar(page->out, sizes, page_tone_names, PAGE_TONE_COUNT);
}

/* How many of the requirements of a level are satisfied. */
static void add_figure(const struct report_page *page, const char *level)
{
	size_t satisfied = 0;
	size_t all = 0;
	json_each (requirement, json_pointer(page->report, "/requirements")) {
		const char *verdict = view_string(requirement, "/verdict");
		if (!text_equal(view_string(requirement, "/level"), level) ||
		    text_equal(verdict, "not-applicable"))
			continue;
		all++;
		satisfied += text_equal(verdict, "satisfied") ? 1 : 0;
	}
	if (all != 0)
		html_addf(page->out,
			  "<div><dt>%s satisfied</dt><dd>%zu<small> of %zu</small></dd></div>\n",
			  level, satisfied, all);
}

/* A line beside the headline, after a word in bold; nothing for an empty one. */
static void add_line(const struct report_page *page, const char *word, const char *line)
{
	if (line[0] == '\0')
		return;
	html_addf(page->out, "<p><b>%s</b> %s</p>\n", word, line);
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
	html_addf(page->out, "<div class=\"verdict %s\" role=\"region\" aria-label=\"Verdict\">\n",
		  page_tone_names[tones[headline.tone]]);
	add_line(page, "Fixed", text_string(&fixed));
	html_addf(page->out, "<p class=\"word\">%s</p>\n<p>", headline.word);
	html_add_text(page->out, &verdict);
	text_add(page->out, "</p>\n");
	report_page_first_failures(page);
	add_line(page, "A recorded node:", view_string(page->report, "/environment/node/file"));
	add_line(page, "Aborted", view_string(page->report, "/run/abort/reason"));
	add_bar(page);
	text_add(page->out, "<dl class=\"figures\">\n");
	for (size_t i = 0; report_level_names[i] != NULL; i++)
		add_figure(page, report_level_names[i]);
	text_add(page->out, "<div><dt>time</dt><dd>");
	page_add_duration(page->out, view_duration(page->report, "/run/durationMs"));
	text_add(page->out, "</dd></div>\n</dl>\n</div>\n");
	page->out->failed = page->out->failed || fixed.failed;
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

static void write_page(const cJSON *report, const struct findings *findings, struct text *out)
{
	struct page shell CLEANUP_PAGE = {0};
	struct text title CLEANUP_TEXT = {0};
	const struct report_page page = {report, findings, &shell.body};
	add_verdict(&page);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct section *section = &sections[i];
		const size_t count =
			section->count != NULL ? section->count(&page)
			: section->list != NULL
				? (size_t)cJSON_GetArraySize(json_pointer(report, section->list))
				: 0;
		if (count == 0 && (section->count != NULL || section->list != NULL))
			continue;
		page_section_begin(&shell, section->id, section->heading, count, section->lead);
		section->write(&page);
		page_section_end(&shell);
	}
	add_title(report, &title);
	page_print(&shell, "Conformance report", text_string(&title), out);
	out->failed = out->failed || title.failed;
}

int html_write(const cJSON *report, const struct writer_options *options, struct text *out,
	       struct error *err)
{
	struct findings findings CLEANUP_FINDINGS = {0};
	int rc = findings_open(report, &findings, err);
	(void)options;
	if (rc == 0)
		write_page(report, &findings, out);
	return rc;
}
