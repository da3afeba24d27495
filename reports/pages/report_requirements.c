/* SPDX-License-Identifier: MIT */
#include "reports/pages/report_page.h"

enum { IMAGES_MAX = 200 };

static enum page_tone tone_of(const char *verdict)
{
	static const enum page_tone tones[] = {PAGE_GOOD, PAGE_BAD, PAGE_WARN, PAGE_QUIET,
					       PAGE_QUIET};
	return tones[text_position(report_requirement_verdict_names, verdict)];
}

void report_page_requirements(const struct report_page *page)
{
	static const char *const headings[] = {"Id", "Level", "Verdict", "Rule and its source",
					       NULL};
	struct text *out = page->out;
	page_filter(out, "requirements-list", "requirements");
	page_table_begin(out, "stacked requirements", "Requirements", "requirements-list",
			 headings);
	json_each (requirement, json_pointer(page->report, "/requirements")) {
		const char *id = view_string(requirement, "/id");
		const char *verdict = view_string(requirement, "/verdict");
		const char *reason = view_string(requirement, "/reason");
		text_add(out, "<tr id=\"");
		html_add_id(out, "r-", id);
		html_addf(out,
			  "\" class=\"%s\" data-facet=\"%s\"><th scope=\"row\" class=\"id\">%s"
			  "</th><td class=\"level\">%s</td><td>",
			  page_tone_names[tone_of(verdict)], verdict, id,
			  view_string(requirement, "/level"));
		page_badge(out, tone_of(verdict), verdict);
		html_addf(out, "</td><td>%s", view_string(requirement, "/sentence"));
		if (reason[0] != '\0')
			html_addf(out, "<span class=\"why\">%s</span>", reason);
		html_addf(out, "<span class=\"source\">%s ", view_string(requirement, "/source"));
		json_each (check, json_pointer(requirement, "/checks")) {
			report_page_check_link(out,
					       cJSON_IsString(check) ? check->valuestring : "?");
			text_add(out, check->next != NULL ? ", " : "");
		}
		text_add(out, "</span></td></tr>\n");
	}
	page_table_end(out);
}

void report_page_images(const struct report_page *page)
{
	static const char *const headings[] = {"Launch",    "Prediction", "Result",
					       "Agreement", "Launches",	  NULL};
	struct text *out = page->out;
	size_t count = 0;
	page_table_begin(out, "stacked images", "Images", NULL, headings);
	json_each (prediction, json_pointer(page->report, "/predictions")) {
		const cJSON *agrees = json_pointer(prediction, "/agrees");
		const int64_t launches = view_int(prediction, "/launches");
		if (count++ >= IMAGES_MAX)
			continue;
		html_addf(out,
			  "<tr><th scope=\"row\">%s%s <span class=\"id\">%s</span></th><td>%s</td>"
			  "<td>%s</td><td>",
			  view_string(prediction, "/program"),
			  json_pointer_true(prediction, "/devices") ? ", with devices" : "",
			  view_string(prediction, "/image"), view_string(prediction, "/verdict"),
			  view_string(prediction, "/outcome"));
		if (cJSON_IsBool(agrees))
			page_badge(out, cJSON_IsTrue(agrees) ? PAGE_GOOD : PAGE_BAD,
				   cJSON_IsTrue(agrees) ? "as predicted" : "not as predicted");
		else
			page_badge(out, PAGE_QUIET, "no prediction");
		html_addf(out, " %s</td><td>%lld launch%s</td></tr>\n",
			  view_string(prediction, "/reason"), (long long)launches,
			  launches == 1 ? "" : "es");
	}
	page_table_end(out);
	page_more(out, count > IMAGES_MAX ? count - IMAGES_MAX : 0, "");
}
