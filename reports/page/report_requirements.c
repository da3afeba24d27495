/* SPDX-License-Identifier: MIT */
#include "reports/page/report_page.h"

#include <string.h>

enum { IMAGES_MAX = 200 };

static enum page_tone tone_of(const char *verdict)
{
	static const enum page_tone tones[] = {PAGE_GOOD, PAGE_BAD, PAGE_WARN, PAGE_QUIET,
					       PAGE_QUIET};
	return tones[text_position(report_requirement_verdict_names, verdict)];
}

bool report_page_has_requirements(const struct report_page *page)
{
	return json_first(json_pointer(page->report, "/requirements")) != NULL;
}

static void add_filter(const struct report_page *page, const cJSON *requirements)
{
	struct page_facet facets[REPORT_REQUIREMENT_NOT_APPLICABLE + 2] = {0};
	for (size_t i = 0; report_requirement_verdict_names[i] != NULL; i++) {
		facets[i].name = report_requirement_verdict_names[i];
		facets[i].tone = tone_of(facets[i].name);
		json_each (requirement, requirements)
			facets[i].count +=
				text_equal(view_string(requirement, "/verdict"), facets[i].name)
					? 1
					: 0;
	}
	page_filter(page->out, "requirements-list", "requirements",
		    (size_t)cJSON_GetArraySize(requirements), facets);
}

static void add_requirement(struct text *out, const cJSON *requirement)
{
	const char *verdict = view_string(requirement, "/verdict");
	const char *reason = view_string(requirement, "/reason");
	text_add(out, "<tr id=\"");
	html_add_id(out, "r-", view_string(requirement, "/id"));
	text_add(out, "\"");
	html_attribute(out, "data-facet", verdict);
	text_add(out, "><th scope=\"row\" class=\"id\">");
	html_text(out, view_string(requirement, "/id"));
	text_add(out, "</th>");
	html_element(out, "td", "level", view_string(requirement, "/level"));
	text_add(out, "<td>");
	page_badge(out, tone_of(verdict), verdict);
	text_add(out, "</td><td>");
	report_page_text(out, view_string(requirement, "/sentence"));
	if (reason[0] != '\0') {
		text_add(out, "<span class=\"why\">");
		report_page_text(out, reason);
		text_add(out, "</span>");
	}
	text_add(out, "<span class=\"source\">");
	report_page_text(out, view_string(requirement, "/source"));
	text_add(out, "</span><span class=\"source\">");
	json_each (check, json_pointer(requirement, "/checks")) {
		report_page_check_link(out, cJSON_IsString(check) ? check->valuestring : "?");
		text_add(out, check->next != NULL ? ", " : "");
	}
	text_add(out, "</span></td></tr>\n");
}

void report_page_requirements(const struct report_page *page)
{
	static const char *const headings[] = {"Id", "Level", "Verdict",
					       "What holds, and where that is written", NULL};
	const cJSON *requirements = json_pointer(page->report, "/requirements");
	add_filter(page, requirements);
	page_table_begin(page->out, "requirements", "Requirements");
	page_table_head(page->out, headings);
	text_add(page->out, "<tbody id=\"requirements-list\">\n");
	json_each (requirement, requirements)
		add_requirement(page->out, requirement);
	text_add(page->out, "</tbody>");
	page_table_end(page->out);
}

bool report_page_has_images(const struct report_page *page)
{
	return json_first(json_pointer(page->report, "/predictions")) != NULL;
}

static void add_prediction(struct text *out, const cJSON *prediction)
{
	const cJSON *agrees = json_pointer(prediction, "/agrees");
	enum page_tone tone = cJSON_IsTrue(agrees)    ? PAGE_GOOD
			      : cJSON_IsFalse(agrees) ? PAGE_BAD
						      : PAGE_QUIET;
	text_add(out, "<tr><th scope=\"row\">");
	report_page_text(out, view_string(prediction, "/program"));
	text_add(out, json_pointer_true(prediction, "/devices") ? ", with devices" : "");
	text_add(out, "<br>");
	html_element(out, "span", "id soft", view_string(prediction, "/image"));
	text_add(out, "</th>");
	html_element(out, "td", NULL, view_string(prediction, "/verdict"));
	html_element(out, "td", NULL, view_string(prediction, "/outcome"));
	text_add(out, "<td>");
	page_badge(out, tone,
		   tone == PAGE_GOOD  ? "as predicted"
		   : tone == PAGE_BAD ? "otherwise"
				      : "not to be told");
	text_add(out, " ");
	report_page_text(out, view_string(prediction, "/reason"));
	text_addf(out, "</td><td class=\"number\">%lld</td></tr>\n",
		  (long long)view_int(prediction, "/launches"));
}

void report_page_images(const struct report_page *page)
{
	static const char *const headings[] = {"Launch",   "Predicted", "Happened",
					       "Together", "Launches",	NULL};
	size_t count = 0;
	page_table_begin(page->out, NULL, "Images");
	page_table_head(page->out, headings);
	text_add(page->out, "<tbody>\n");
	json_each (prediction, json_pointer(page->report, "/predictions")) {
		if (count++ < IMAGES_MAX)
			add_prediction(page->out, prediction);
	}
	text_add(page->out, "</tbody>");
	page_table_end(page->out);
	if (count > IMAGES_MAX)
		text_addf(page->out, "<p class=\"soft\">and %zu more, in report.json</p>\n",
			  count - IMAGES_MAX);
}
