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

size_t report_page_count_apis(const struct report_page *page)
{
	const struct view *view = &page->findings->view;
	size_t count = 0;
	if (json_first(report_page_devices(page)) == NULL)
		return 0;
	for (size_t i = 0; i < view->count; i++)
		count += is_row(&view->checks[i]) ? 1 : 0;
	return count;
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

static void add_cell(struct text *out, enum report_outcome outcome, bool dense)
{
	const enum page_tone tone = page_tone_of(outcome);
	const char *word = outcome != REPORT_OUTCOME_COUNT ? report_outcome_names[outcome] : "";
	if (outcome == REPORT_OUTCOME_COUNT)
		page_heat_cell(out, PAGE_QUIET, 0, 0, NULL, "not tested", "");
	else
		page_heat_cell(out, tone, 1, 1, NULL, dense ? word : "", dense ? "" : word);
}

static void add_row(const struct report_page *page, const struct view_check *check)
{
	const cJSON *devices = report_page_devices(page);
	text_add(page->out, "<tr><th scope=\"row\">");
	html_open_link(page->out, "name", "", "c-", check->id);
	html_addf(page->out, "%s</a></th>", check->id + strlen(suite));
	if (is_told_by_device(check)) {
		json_each (device, devices)
			add_cell(page->out, outcome_on(check, view_string(device, "/ref")),
				 report_page_is_dense(page));
	} else { /* it ended before it came to one */
		html_addf(page->out, "<td colspan=\"%d\">", cJSON_GetArraySize(devices));
		page_outcome(page->out, check->outcome);
		html_addf(page->out, " %s</td>", check->reason);
	}
	text_add(page->out, "</tr>\n");
}

void report_page_grid_head(const struct report_page *page, const char *const *headings, bool named)
{
	text_add(page->out, "<thead><tr>");
	for (; *headings != NULL; headings++)
		html_addf(page->out, "<th scope=\"col\">%s</th>", *headings);
	json_each (device, report_page_devices(page))
		html_addf(page->out,
			  "<th scope=\"col\" class=\"device\">%s <span class=\"id\">%s</span></th>",
			  named ? view_string(device, "/name") : "", view_string(device, "/ref"));
}

void report_page_grid(const struct report_page *page)
{
	static const char *const headings[] = {"API", NULL};
	const struct view *view = &page->findings->view;
	const bool dense = report_page_is_dense(page);
	page_grid_begin(page->out, dense ? "dense" : "", "APIs by device");
	report_page_grid_head(page, headings, !dense);
	text_add(page->out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < view->count; i++) {
		if (is_row(&view->checks[i]))
			add_row(page, &view->checks[i]);
	}
	text_add(page->out, "</tbody>");
	page_grid_end(page->out);
}
