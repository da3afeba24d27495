/* SPDX-License-Identifier: MIT */
#include "reports/page/report_page.h"

enum {
	NOTES_MAX = 10,
	DETAILS_MAX = 190 * 1024, /* bytes; what follows is told without details */
};

size_t report_page_count_checks(const struct report_page *page)
{
	return page->findings->view.count;
}

static void add_filter(const struct report_page *page)
{
	const struct view *view = &page->findings->view;
	struct page_facet facets[REPORT_OUTCOME_COUNT + 1] = {{0}};
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
		if (count++ < NOTES_MAX)
			html_addf(out, "<li>%s</li>\n",
				  cJSON_IsString(note) ? note->valuestring
						       : view_string(note, "/text"));
	}
	text_add(out, "</ul>\n");
	page_more(out, count > NOTES_MAX ? count - NOTES_MAX : 0, "");
}

static void add_details(struct text *out, const struct view_check *check)
{
	const bool advised =
		check->outcome != REPORT_PASS && check->outcome != REPORT_NOT_APPLICABLE;
	text_add(out, "</summary>\n<div class=\"details\">\n");
	report_page_meta(out, check, false);
	if (advised)
		html_addf(out, "<p class=\"advice\">%s</p>\n", view_string(check->json, "/advice"));
	add_notes(out, json_pointer(check->json, "/notes"));
	add_notes(out, json_pointer(check->json, "/events"));
	report_page_assertions(out, check, true);
	report_page_evidence(out, check);
	text_add(out, "</div></details></li>\n");
}

static void add_check(struct text *out, const struct view_check *check, bool detailed)
{
	text_add(out, "<li id=\"");
	html_add_id(out, "c-", check->id);
	html_addf(out, "\" data-facet=\"%s\">", report_outcome_names[check->outcome]);
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
	if (detailed)
		add_details(out, check);
	else
		text_add(out, "</div></li>\n");
}

void report_page_checks(const struct report_page *page)
{
	const struct view *view = &page->findings->view;
	const size_t limit = page->out->size + DETAILS_MAX;
	add_filter(page);
	text_add(page->out, "<ol id=\"checks-list\" class=\"checks\" role=\"list\">\n");
	for (size_t i = 0; i < view->count; i++)
		add_check(page->out, &view->checks[i], page->out->size < limit);
	text_add(page->out, "</ol>\n");
	if (page->out->size > limit)
		text_add(page->out, "<p class=\"soft\">Of so many checks the later ones are told "
				    "without details, which report.json has.</p>\n");
}
