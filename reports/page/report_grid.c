/* SPDX-License-Identifier: MIT */
#include "reports/page/report_page.h"

#include <string.h>

static const char suite[] = "api.";

static bool is_told_by_device(const struct view_check *check)
{
	return json_first(json_pointer(check->json, "/deviceOutcomes")) != NULL;
}

/* A row of the grid: an API that was tested, or could not be. */
static bool is_row(const struct view_check *check)
{
	return text_starts_with(check->id, suite) &&
	       (is_told_by_device(check) ||
		(check->outcome != REPORT_NOT_APPLICABLE && check->outcome != REPORT_PASS));
}

bool report_page_has_grid(const struct report_page *page)
{
	const struct view *view = &page->findings->view;
	for (size_t i = 0; i < view->count; i++) {
		if (is_row(&view->checks[i]))
			return json_first(json_pointer(page->report, "/environment/devices")) !=
			       NULL;
	}
	return false;
}

/* What the check says of this device alone; REPORT_OUTCOME_COUNT: nothing. */
static enum report_outcome outcome_on(const struct view_check *check, const char *ref)
{
	json_each (outcome, json_pointer(check->json, "/deviceOutcomes")) {
		if (strcmp(view_string(outcome, "/ref"), ref) == 0)
			return report_outcome_of(view_string(outcome, "/outcome"));
	}
	return REPORT_OUTCOME_COUNT;
}

static void add_cell(struct text *out, enum report_outcome outcome, const char *link)
{
	if (outcome == REPORT_OUTCOME_COUNT)
		text_add(out,
			 "<td class=\"heat quiet h0\"><span class=\"sr\">not tested</span></td>");
	else
		page_heat_cell(out, page_tone_of(outcome), page_tone_of(outcome) != PAGE_QUIET, 1,
			       link, "", report_outcome_names[outcome]);
}

static void add_row(const struct report_page *page, const struct view_check *check)
{
	const cJSON *devices = json_pointer(page->report, "/environment/devices");
	struct text link CLEANUP_TEXT = {0};
	html_add_id(&link, "#c-", check->id);
	text_add(page->out, "<tr><th scope=\"row\">");
	html_text(page->out, check->id + strlen(suite));
	text_add(page->out, "</th>");
	if (is_told_by_device(check)) {
		json_each (device, devices)
			add_cell(page->out, outcome_on(check, view_string(device, "/ref")),
				 text_string(&link));
	} else { /* it ended before it came to one */
		text_addf(page->out, "<td colspan=\"%d\">", cJSON_GetArraySize(devices));
		page_badge(page->out, page_tone_of(check->outcome),
			   report_outcome_names[check->outcome]);
		text_add(page->out, " ");
		report_page_text(page->out, check->reason);
		text_add(page->out, "</td>");
	}
	text_add(page->out, "</tr>\n");
	page->out->failed = page->out->failed || link.failed;
}

void report_page_grid(const struct report_page *page)
{
	const struct view *view = &page->findings->view;
	page_table_begin(page->out, "grid", "APIs by device");
	text_add(page->out, "<thead><tr><th scope=\"col\">API</th>");
	json_each (device, json_pointer(page->report, "/environment/devices")) {
		text_add(page->out, "<th scope=\"col\">");
		report_page_text(page->out, view_string(device, "/name"));
		text_add(page->out, "<br>");
		html_element(page->out, "span", "id", view_string(device, "/ref"));
		text_add(page->out, "</th>");
	}
	text_add(page->out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < view->count; i++) {
		if (is_row(&view->checks[i]))
			add_row(page, &view->checks[i]);
	}
	text_add(page->out, "</tbody>");
	page_table_end(page->out);
}
