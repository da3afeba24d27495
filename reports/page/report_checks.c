/* SPDX-License-Identifier: MIT */
#include "reports/page/report_page.h"

enum { FAILED_MAX = 12, HELD_MAX = 10, NOTES_MAX = 10 };

static void add_filter(const struct report_page *page)
{
	const struct view *view = &page->findings->view;
	struct page_facet facets[REPORT_OUTCOME_COUNT + 1] = {0};
	for (int i = 0; i < REPORT_OUTCOME_COUNT; i++)
		facets[i] = (struct page_facet){.name = report_outcome_names[i],
						.tone = page_tone_of((enum report_outcome)i)};
	for (size_t i = 0; i < view->count; i++)
		facets[view->checks[i].outcome].count++;
	page_filter(page->out, "checks-list", "checks", view->count, facets);
}

static void add_notes(struct text *out, const cJSON *notes)
{
	size_t count = 0;
	if (json_first(notes) == NULL)
		return;
	text_add(out, "<ul class=\"notes\">\n");
	json_each (note, notes) {
		const char *string =
			cJSON_IsString(note) ? note->valuestring : view_string(note, "/text");
		if (count++ >= NOTES_MAX)
			continue;
		text_add(out, "<li>");
		report_page_text(out, string);
		text_add(out, "</li>\n");
	}
	text_add(out, "</ul>\n");
	if (count > NOTES_MAX)
		text_addf(out, "<p class=\"soft\">and %zu more, in report.json</p>\n",
			  count - NOTES_MAX);
}

static void add_details(struct text *out, const struct view_check *check)
{
	text_add(out, "<div class=\"details\">\n<p class=\"meta\">");
	report_page_requirement_link(out, check);
	html_textf(out, " severity %s", view_string(check->json, "/severity"));
	text_add(out, "</p>\n");
	if (check->outcome != REPORT_PASS) {
		text_add(out, "<p class=\"advice\">");
		report_page_text(out, view_string(check->json, "/advice"));
		text_add(out, "</p>\n");
	}
	add_notes(out, json_pointer(check->json, "/notes"));
	add_notes(out, json_pointer(check->json, "/events"));
	report_page_assertions(out, check, false, FAILED_MAX);
	report_page_assertions(out, check, true, HELD_MAX);
	report_page_evidence(out, check);
	text_add(out, "</div>");
}

static void add_line(struct text *out, const struct view_check *check)
{
	page_badge(out, page_tone_of(check->outcome), report_outcome_names[check->outcome]);
	text_add(out, "<span class=\"what\"><b class=\"id\">");
	report_page_text(out, check->id);
	text_add(out, "</b> ");
	report_page_text(out, view_string(check->json, "/title"));
	if (check->reason[0] != '\0') {
		text_add(out, "<span class=\"why\">");
		report_page_text(out, check->reason);
		text_add(out, "</span>");
	}
	text_add(out, "</span><span class=\"took\">");
	if (check->duration_ms != 0)
		page_add_duration(out, check->duration_ms);
	text_add(out, "</span>");
}

static void add_check(struct text *out, const struct view_check *check, bool detailed)
{
	text_add(out, "<li id=\"");
	html_add_id(out, "c-", check->id);
	text_addf(out, "\" data-facet=\"%s\">%s", report_outcome_names[check->outcome],
		  detailed ? "<details><summary>" : "<div>");
	add_line(out, check);
	if (detailed) {
		text_add(out, "</summary>\n");
		add_details(out, check);
	}
	text_add(out, detailed ? "</details></li>\n" : "</div></li>\n");
}

void report_page_checks(const struct report_page *page)
{
	const struct view *view = &page->findings->view;
	size_t limit = page->out->size + PAGE_DETAILS_MAX;
	bool cut = false;
	add_filter(page);
	text_add(page->out, "<ol id=\"checks-list\" class=\"checks\" role=\"list\">\n");
	for (size_t i = 0; i < view->count; i++) {
		bool detailed = page->out->size < limit;
		cut = cut || !detailed;
		add_check(page->out, &view->checks[i], detailed);
	}
	text_add(page->out, "</ol>\n");
	if (cut)
		text_add(
			page->out,
			"<p class=\"soft\">Of so many checks the later ones are told without details, which report.json has.</p>\n");
}
