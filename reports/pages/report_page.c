/* SPDX-License-Identifier: MIT */
#include "reports/pages/report_page.h"
#include "reports/environment.h"
#include "reports/writer.h"

#include <string.h>

enum { NARROW_MAX = 8 };

static const struct section {
	const char *id, *heading, *lead;
	const char *list;	     /* left out if this array of the report is empty, or */
	report_page_count_fn *count; /* if this count is 0; both NULL: always present */
	report_page_fn *write;
} sections[] = {
	{"failures", "Failures", NULL, NULL, report_page_count_failures, report_page_failures},
	{"environment", "Environment",
	 "The verdict is about this environment: another driver or build is another report.", NULL,
	 NULL, report_page_environment},
	{"apis", "APIs by device", "The APIs that did real work in a container with the device.",
	 NULL, report_page_count_apis, report_page_grid},
	{"isolation", "Isolation",
	 "The devices of the node that each container saw, and those that it was granted.", NULL,
	 report_page_count_containers, report_page_isolation},
	{"untested", "Not tested",
	 "Checks that did not run, a line for each reason: they leave requirements open.", NULL,
	 report_page_count_untested, report_page_untested},
	{"checks", "Checks", NULL, "/checks", NULL, report_page_checks},
	{"requirements", "Requirements",
	 "Rules that must, should or may hold, and whether the checks of this run prove them.",
	 "/requirements", NULL, report_page_requirements},
	{"timeline", "Timeline", NULL, NULL, NULL, report_page_timeline},
	{"images", "Images",
	 "Each kind of launch: the prediction of the image rules, and the result.", "/predictions",
	 NULL, report_page_images},
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

/* A line below the headline, after a word in bold; nothing for an empty one. */
static void add_line(const struct report_page *page, const char *word, const char *line)
{
	if (line[0] != '\0')
		html_addf(page->out, "<p><b>%s</b> %s</p>\n", word, line);
}

static void add_verdict(const struct report_page *page)
{
	static const enum page_tone tones[] = {[FINDINGS_GOOD] = PAGE_GOOD,
					       [FINDINGS_OPEN] = PAGE_WARN,
					       [FINDINGS_BAD] = PAGE_BAD};
	const struct findings_headline headline = findings_headline_of(page->report);
	const struct view *view = &page->findings->view;
	struct text verdict CLEANUP_TEXT = {0};
	struct text fixed CLEANUP_TEXT = {0};
	findings_add_verdict(page->report, &verdict);
	(void)findings_add_fixed(page->findings, &fixed);
	html_addf(page->out, "<div class=\"verdict %s\" role=\"region\" aria-label=\"Verdict\">\n",
		  page_tone_names[tones[headline.tone]]);
	add_line(page, "Fixed", text_string(&fixed));
	html_addf(page->out, "<p class=\"word\">%s</p>\n<p>%s</p>\n", headline.word,
		  text_string(&verdict));
	report_page_first_failures(page);
	add_line(page, "A recorded node:", view_string(page->report, "/environment/node/file"));
	add_line(page, "Aborted", view_string(page->report, "/run/abort/reason"));

	/* The outcomes of all checks that apply. */
	int64_t sizes[PAGE_TONE_COUNT] = {0};
	for (size_t i = 0; i < view->count; i++) {
		if (view->checks[i].outcome != REPORT_NOT_APPLICABLE)
			sizes[page_tone_of(view->checks[i].outcome)]++;
	}
	if (view->count != 0)
		report_page_bar(page->out, sizes, page_tone_names, PAGE_TONE_COUNT);

	/* How many of the requirements of each level are satisfied. */
	text_add(page->out, "<dl class=\"figures\">\n");
	for (size_t i = 0; report_level_names[i] != NULL; i++) {
		size_t satisfied = 0;
		size_t all = 0;
		json_each (requirement, json_pointer(page->report, "/requirements")) {
			const char *word = view_string(requirement, "/verdict");
			if (!text_equal(view_string(requirement, "/level"),
					report_level_names[i]) ||
			    text_equal(word, "not-applicable"))
				continue;
			all++;
			satisfied += text_equal(word, "satisfied") ? 1 : 0;
		}
		if (all != 0)
			html_addf(page->out,
				  "<div><dt>%s satisfied</dt><dd>%zu<small> of %zu</small></dd>"
				  "</div>\n",
				  report_level_names[i], satisfied, all);
	}
	text_add(page->out, "<div><dt>time</dt><dd>");
	page_add_duration(page->out, view_duration(page->report, "/run/durationMs"));
	text_add(page->out, "</dd></div>\n</dl>\n</div>\n");
}

int html_write(const cJSON *report, const struct writer_options *options, struct text *out,
	       struct error *err)
{
	struct findings findings CLEANUP_FINDINGS = {0};
	struct page shell CLEANUP_PAGE = {0};
	struct text title CLEANUP_TEXT = {0};
	const struct report_page page = {report, &findings, &shell.body};
	int rc = findings_open(report, &findings, err);
	(void)options;
	if (rc < 0)
		return rc;

	add_verdict(&page);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct section *section = &sections[i];
		size_t count = 0;
		if (section->count != NULL)
			count = section->count(&page);
		else if (section->list != NULL)
			count = (size_t)cJSON_GetArraySize(json_pointer(report, section->list));
		if (count == 0 && (section->count != NULL || section->list != NULL))
			continue;
		page_section_begin(&shell, section->id, section->heading, count, section->lead);
		section->write(&page);
		page_section_end(&shell);
	}

	/* "nvidia 552.12 on Windows Server 2022 Datacenter 20348.1547": driver and system
	 * distinguish reports. */
	environment_add_names("drivers", json_pointer(report, "/environment"), &title);
	const char *unknown = title.size != 0 ? "an unknown system" : "An unknown environment";
	text_add(&title, title.size != 0 ? " on " : "");
	const size_t size = title.size;
	environment_add_name("os", json_pointer(report, "/environment/os"), &title);
	if (title.size == size)
		text_add(&title, unknown);
	page_print(&shell, "Conformance report", text_string(&title), out);
	return 0;
}
