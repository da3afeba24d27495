/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"
#include "reports/view.h"
#include "reports/writer.h"

static const struct page_section sections[] = {{"checks", "Checks"}, {NULL, NULL}};

static void add_check(struct text *out, const struct view_check *check)
{
	html_open(out, "tr", "data-facet", report_outcome_names[check->outcome], NULL);
	text_add(out, "<td>");
	page_badge(out, page_tone_of(check->outcome), report_outcome_names[check->outcome]);
	text_add(out, "</td>");
	html_element(out, "td", "id", check->id);
	html_element(out, "td", NULL, view_string(check->json, "/title"));
	text_add(out, "</tr>\n");
}

int html_write(const cJSON *report, const struct writer_options *options, struct text *out,
	       struct error *err)
{
	static const char *const headings[] = {"Outcome", "Check", "What it is", NULL};
	struct page_facet facets[REPORT_OUTCOME_COUNT + 1] = {0};
	struct view view CLEANUP_VIEW = {0};
	int rc = view_open(report, &view, err);
	(void)options;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < REPORT_OUTCOME_COUNT; i++)
		facets[i] = (struct page_facet){.name = report_outcome_names[i],
						.tone = page_tone_of((enum report_outcome)i)};
	for (size_t i = 0; i < view.count; i++)
		facets[view.checks[i].outcome].count++;
	page_begin(out, &(struct page){.kind = "Report",
				       .title = view_string(report, "/environment/os/product"),
				       .sections = sections});
	page_section_begin(out, &sections[0], NULL);
	page_filter(out, "checks-list", "checks", view.count, facets);
	page_table_begin(out, NULL, "Checks");
	page_table_head(out, headings);
	text_add(out, "<tbody id=\"checks-list\">\n");
	for (size_t i = 0; i < view.count; i++)
		add_check(out, &view.checks[i]);
	text_add(out, "</tbody>");
	page_table_end(out);
	page_section_end(out);
	page_end(out);
	return 0;
}
