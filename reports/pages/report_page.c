/* SPDX-License-Identifier: MIT */
#include "reports/pages/report_page.h"
#include "reports/environment.h"
#include "reports/pages/page.h"
#include "reports/writer.h"

enum { FIRST_MAX = 5, UNTESTED_MAX = 60 };

static size_t count_untested(const struct report_document *it)
{
	return it->findings.untested.checks;
}

/* Checks that a failure held are listed with the failure. */
static void add_untested(struct report_document *it)
{
	const struct finding_list *untested = &it->findings.untested;
	if (untested->count == 0)
		doc_add(it->doc, "<p>All untested checks wait for the failures above.</p>");
	(void)report_add_findings(it, untested, UNTESTED_MAX);
	report_add_more(it, untested->count, UNTESTED_MAX, "reasons");
}

static const struct section {
	const char *id, *heading, *lead;
	const char *list;	     /* omitted if this array of the report is empty, or */
	report_page_count_fn *count; /* if this count is 0; both NULL: always present */
	report_page_fn *write;
} sections[] = {
	{"failures", "Failures", NULL, NULL, report_page_count_failures, report_page_failures},
	{"environment", "Environment",
	 "The verdict is about this environment: another driver or build is another report.", NULL,
	 NULL, report_add_environment},
	{"apis", "APIs by device", "The APIs that did real work in a container with the device.",
	 NULL, report_count_apis, report_add_apis},
	{"isolation", "Isolation",
	 "The devices of the node that each container saw: ✓ granted and seen, ✗ seen, but not "
	 "granted, ! granted, but not seen.",
	 NULL, report_page_count_containers, report_page_isolation},
	{"untested", "Not tested",
	 "Checks that did not run, a line for each reason: they leave requirements open.", NULL,
	 count_untested, add_untested},
	{"checks", "Checks", NULL, "/checks", NULL, report_page_checks},
	{"requirements", "Requirements",
	 "Rules that must, should or may hold, and whether the checks of this run prove them.",
	 "/requirements", NULL, report_page_requirements},
	{"timeline", "Timeline", NULL, NULL, NULL, report_page_timeline},
	{"images", "Images",
	 "Each kind of launch: the prediction of the image rules, and the result.", "/predictions",
	 NULL, report_page_images},
};

static void add_verdict(struct report_document *it)
{
	const struct finding_list *problems = &it->findings.problems;
	const struct view *view = &it->findings.view;
	const size_t untested_left = it->untested_left;
	doc_add(it->doc, "<div class='verdict %s' role=region aria-label=Verdict>",
		doc_tone_names[findings_headline_of(it->report).tone]);
	report_add_verdict(it);
	const struct finding_list *first = problems->count > 0 ? problems : &it->findings.expected;
	const size_t left = report_page_count_failures(it) - first->checks +
			    report_add_findings(it, first, FIRST_MAX);
	it->untested_left = untested_left;
	if (left != 0)
		doc_add(it->doc, "<p><a href=#failures>and %zu more</a></p>", left);
	doc_label(it->doc, "",
		  "A recorded node:", view_string(it->report, "/environment/node/file"));
	doc_label(it->doc, "", "Aborted", view_string(it->report, "/run/abort/reason"));

	/* The outcomes of all checks that apply. */
	int64_t sizes[DOC_TONE_COUNT] = {0};
	for (size_t i = 0; i < view->count; i++) {
		if (view->checks[i].outcome != REPORT_NOT_APPLICABLE)
			sizes[doc_tone_of(view->checks[i].outcome)]++;
	}
	if (view->count != 0)
		report_page_bar(it->doc, sizes, doc_tone_names, DOC_TONE_COUNT);

	/* How many of the requirements of each level are satisfied, and the time. */
	doc_add(it->doc, "<dl class=figures>");
	for (size_t i = 0; report_level_names[i] != NULL; i++) {
		size_t satisfied = 0;
		size_t all = 0;
		json_each (requirement, json_pointer(it->report, "/requirements")) {
			const char *word = view_string(requirement, "/verdict");
			if (!view_is(requirement, "/level", report_level_names[i]) ||
			    text_equal(word, "not-applicable"))
				continue;
			all++;
			satisfied += text_equal(word, "satisfied");
		}
		if (all != 0)
			doc_add(it->doc, "<div><dt>%s satisfied<dd>%zu<small> of %zu</small></div>",
				report_level_names[i], satisfied, all);
	}
	doc_add(it->doc, "<div><dt>time<dd>");
	doc_duration(it->doc, view_duration(it->report, "/run/durationMs"));
	doc_end(it->doc, DOC_FACTS);
	doc_end(it->doc, DOC_BOX);
}

int html_write(const cJSON *report, const struct writer_options *options, struct text *out,
	       struct error *err)
{
	struct doc doc CLEANUP_DOC = {.writer = &doc_html};
	struct report_document it CLEANUP_REPORT_DOCUMENT = {0};
	struct text title CLEANUP_TEXT = {0};
	int rc = report_document_open(report, NULL, &doc, &it, err);
	(void)options;
	if (rc < 0)
		return rc;

	add_verdict(&it);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct section *section = &sections[i];
		size_t count = 0;
		if (section->count != NULL)
			count = section->count(&it);
		else if (section->list != NULL)
			count = (size_t)cJSON_GetArraySize(json_pointer(report, section->list));
		if (count == 0 && (section->count != NULL || section->list != NULL))
			continue;
		doc_section(&doc, section->id, section->heading, count, section->lead);
		section->write(&it);
		doc_end(&doc, DOC_SECTION);
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
	doc_title(&doc, text_string(&title));
	page_print(&doc, "Conformance report", out);
	return 0;
}
