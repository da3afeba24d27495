/* SPDX-License-Identifier: MIT */
#include "reports/pages/html.h"
#include "reports/pages/report_page.h"

enum { IMAGES_MAX = 200 };

void report_page_requirements(struct report_document *it)
{
	static const char *const headings[] = {"Id", "Level", "Verdict", "Rule and its source",
					       NULL};
	static const enum doc_tone tones[] = {DOC_GOOD, DOC_BAD, DOC_WARN, DOC_QUIET, DOC_QUIET};
	html_filter(it->doc, "requirements-list", "requirements");
	doc_table(it->doc, "stacked requirements", "Requirements", "requirements-list", headings);
	json_each (requirement, json_pointer(it->report, "/requirements")) {
		const char *id = view_string(requirement, "/id");
		const char *verdict = view_string(requirement, "/verdict");
		const char *reason = view_string(requirement, "/reason");
		const char *tone = doc_tone_names[tones[text_position(
			report_requirement_verdict_names, verdict)]];
		doc_add(it->doc,
			"<tr class=%s id=r-%s data-facet=%s><th class=id>%s<td class=level>%s"
			"<td><badge class=%s>%s</badge><td>%s",
			tone, id, verdict, id, view_string(requirement, "/level"), tone, verdict,
			view_string(requirement, "/sentence"));
		if (reason[0] != '\0')
			doc_add(it->doc, "<span class=why>%s</span>", reason);
		doc_add(it->doc, "<span class=source>%s ", view_string(requirement, "/source"));
		json_each (check, json_pointer(requirement, "/checks")) {
			const char *name = cJSON_IsString(check) ? check->valuestring : "?";
			report_add_check(it, "id", name, name);
			doc_add(it->doc, "%s", check->next != NULL ? ", " : "");
		}
	}
	doc_end(it->doc, DOC_BOX);
}

void report_page_images(struct report_document *it)
{
	static const char *const headings[] = {"Launch",    "Prediction", "Result",
					       "Agreement", "Launches",	  NULL};
	size_t count = 0;
	doc_table(it->doc, "stacked images", "Images", NULL, headings);
	json_each (prediction, json_pointer(it->report, "/predictions")) {
		const cJSON *agrees = json_pointer(prediction, "/agrees");
		const bool held = cJSON_IsTrue(agrees);
		const int64_t launches = view_int(prediction, "/launches");
		if (count++ >= IMAGES_MAX)
			continue;
		doc_add(it->doc,
			"<tr><th>%s%s <span class=id>%s</span><td>%s<td>%s"
			"<td><badge class=%s>%s</badge> %s<td>%lld launch%s",
			view_string(prediction, "/program"),
			json_pointer_true(prediction, "/devices") ? ", with devices" : "",
			view_string(prediction, "/image"), view_string(prediction, "/verdict"),
			view_string(prediction, "/outcome"),
			!cJSON_IsBool(agrees) ? "quiet"
			: held		      ? "good"
					      : "bad",
			!cJSON_IsBool(agrees) ? "no prediction"
			: held		      ? "as predicted"
					      : "not as predicted",
			view_string(prediction, "/reason"), (long long)launches,
			launches == 1 ? "" : "es");
	}
	doc_end(it->doc, DOC_BOX);
	report_add_more(it, count, IMAGES_MAX, "launches");
}
