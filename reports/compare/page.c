/* SPDX-License-Identifier: MIT */
/* Comparisons as a page: what the reports are about, then what ended otherwise. */
#include "reports/compare/page.h"

#include "base/cleanup.h"
#include "reports/page/page.h"
#include "reports/report_link.h"

#include <stdlib.h>
#include <string.h>

#define SECTION_ID "part-%zu"

static const struct {
	const char *heading;
	enum page_tone tone;
} kinds[COMPARE_SAME] = {
	[COMPARE_REGRESSION] = {"Regressions", PAGE_BAD},
	[COMPARE_CHANGED] = {"Other changes", PAGE_WARN},
	[COMPARE_FIX] = {"Fixes", PAGE_GOOD},
	[COMPARE_NEW] = {"New checks", PAGE_QUIET},
	[COMPARE_GONE] = {"Checks that are gone", PAGE_WARN},
	[COMPARE_NOT_COMPARABLE] = {"Not comparable", PAGE_WARN},
};

/* A report that is compared, and how the page leads to it. */
struct side {
	const cJSON *report;
	struct text link;
};

static void side_free(struct side *side)
{
	text_free(&side->link);
}

static void add_report(const struct side *side, struct text *out)
{
	const char *id = view_string(side->report, "/run/id");
	html_open(out, "a", "href", text_string(&side->link), NULL);
	html_text(out, id[0] != '\0' ? id : "report");
	text_add(out, "</a>");
	html_textf(out, ", %.10s", view_string(side->report, "/run/started"));
}

static void add_conformance(const cJSON *report, struct text *out)
{
	struct text conformance CLEANUP_TEXT = {0};
	view_add_conformance(report, &conformance);
	html_text(out, text_string(&conformance));
	out->failed = out->failed || conformance.failed;
}

static void add_part(const struct compare_difference *difference, const char *name,
		     struct text *out)
{
	html_open(out, "tr", "class", difference->is ? "differs" : "same", NULL);
	text_add(out, "<th scope=\"row\">");
	html_text(out, name);
	text_add(out, " ");
	if (difference->is)
		page_badge(out, difference->follows ? PAGE_QUIET : PAGE_WARN,
			   difference->follows ? "follows" : "differs");
	text_add(out, "</th><td>");
	html_text(out, difference->from);
	text_add(out, "</td><td>");
	html_text(out, difference->to);
	text_add(out,
		 difference->is && strcmp(difference->from, difference->to) == 0
			 ? " <span class=\"soft\">(the same name, other content)</span></td></tr>\n"
			 : "</td></tr>\n");
}

/* Nothing is to be said of a part that neither report knows. */
static bool is_told(const struct compare_difference *difference)
{
	return difference->is || strcmp(difference->to, "unknown") != 0;
}

/* What differs first. */
static void add_environment(const struct comparison *comparison, const struct side *before,
			    const struct side *after, const char *label, struct text *out)
{
	page_table_begin(out, "sides", label);
	page_table_head(out, (const char *const[]){"part", "before", "after", NULL});
	text_add(out, "<tbody><tr><th scope=\"row\">report</th><td>");
	add_report(before, out);
	text_add(out, "</td><td>");
	add_report(after, out);
	text_add(out, "</td></tr>\n<tr><th scope=\"row\">conformance</th><td>");
	add_conformance(comparison->from, out);
	text_add(out, "</td><td>");
	add_conformance(comparison->to, out);
	text_add(out, "</td></tr>\n");
	for (int differs = 1; differs >= 0; differs--)
		for (size_t i = 0; i < COMPARE_PART_COUNT; i++)
			if (comparison->differences[i].is == (differs == 1) &&
			    is_told(&comparison->differences[i]))
				add_part(&comparison->differences[i], compare_part_names[i], out);
	text_add(out, "</tbody>\n");
	page_table_end(out);
}

/* The outcome, its reason, and the way to the check in its report; nothing where it is not there. */
static void add_ending(const char *when, const struct view_check *check, const struct side *side,
		       struct text *out)
{
	struct text link CLEANUP_TEXT = {0};
	if (check == NULL)
		return;
	text_add_all(&link, &side->link);
	html_add_id(&link, "#c-", check->id);
	text_addf(out, "<div><dt>%s</dt><dd>", when);
	page_badge(out, page_tone_of(check->outcome), report_outcome_names[check->outcome]);
	text_add(out, " ");
	html_text(out, check->reason);
	text_add(out, " ");
	html_open(out, "a", "href", text_string(&link), NULL);
	text_addf(out, "report<span class=\"sr\"> %s</span></a></dd></div>\n", when);
	out->failed = out->failed || link.failed;
}

static void add_change(const struct compare_change *change, const struct side *before,
		       const struct side *after, struct text *out)
{
	const struct view_check *shown = change->to != NULL ? change->to : change->from;
	html_open(out, "li", "data-facet", compare_kind_names[change->kind], NULL);
	html_element(out, "h4", "id", shown->id);
	text_add(out, "<dl>\n");
	add_ending("before", change->from, before, out);
	add_ending("after", change->to, after, out);
	text_add(out, "</dl></li>\n");
}

static void add_changes(const struct comparison *comparison, const struct side *before,
			const struct side *after, size_t number, bool several, struct text *out)
{
	char *list CLEANUP_FREE = text_format("changes-%zu", number);
	char *noun CLEANUP_FREE =
		text_format(several ? "changes of comparison %zu" : "changes", number);
	struct page_facet facets[COMPARE_SAME + 1] = {{.name = NULL}};
	size_t count = 0;
	for (size_t i = 0; i < COMPARE_SAME; i++) {
		facets[i] = (struct page_facet){compare_kind_names[i], comparison->kinds[i],
						kinds[i].tone};
		count += comparison->kinds[i];
	}
	out->failed = out->failed || list == NULL || noun == NULL;
	text_addf(out, "<p class=\"lead\">%zu of %zu checks are not as they were.</p>\n", count,
		  comparison->count);
	if (count == 0 || list == NULL || noun == NULL)
		return;
	page_filter(out, list, noun, count, facets);
	html_open(out, "ul", "class", "changes", "id", list, NULL);
	text_add(out, "\n");
	for (size_t i = 0; i < count; i++) { /* those that are the same come last */
		const enum compare_kind kind = comparison->changes[i].kind;
		if (i == 0 || comparison->changes[i - 1].kind != kind)
			text_addf(
				out,
				"<li data-group><h3>%s <span class=\"soft\">%zu</span></h3></li>\n",
				kinds[kind].heading, comparison->kinds[kind]);
		add_change(&comparison->changes[i], before, after, out);
	}
	text_add(out, "</ul>\n");
}

/* Its heading is remembered for the table of contents. */
static void begin_section(struct compare_page *page, const char *heading)
{
	char *id CLEANUP_FREE = text_format(SECTION_ID, page->headings.count);
	page->body.failed = page->body.failed || id == NULL ||
			    text_list_add(&page->headings, heading, NULL) < 0;
	page_section_begin(&page->body, &(struct page_section){id, heading}, NULL);
}

void compare_page_add(struct compare_page *page, const struct comparison *comparison,
		      const char *from, const char *to)
{
	struct side before CLEANUP(side_free) = {.report = comparison->from};
	struct side after CLEANUP(side_free) = {.report = comparison->to};
	const size_t number = page->headings.count / 2 + 1;
	struct text headline CLEANUP_TEXT = {0};
	struct text checks CLEANUP_TEXT = {0};
	struct text about CLEANUP_TEXT = {0};
	comparison_add_headline(comparison, &headline);
	text_addf(&about, "What the reports of comparison %zu are about", number);
	text_addf(&checks, page->several ? "Checks of comparison %zu" : "Checks", number);
	if (page->several) {
		text_reset(&page->title);
		text_addf(&page->title, "%zu reports compared with one", number);
	} else {
		text_add_all(&page->title, &headline);
	}
	report_add_link(from, &before.link);
	report_add_link(to, &after.link);
	begin_section(page, page->several ? text_string(&headline) : "Environment");
	add_environment(comparison, &before, &after, text_string(&about), &page->body);
	page_section_end(&page->body);
	begin_section(page, text_string(&checks));
	add_changes(comparison, &before, &after, number, page->several, &page->body);
	page_section_end(&page->body);
	page->body.failed = page->body.failed || headline.failed || checks.failed || about.failed;
}

int compare_page_print(const struct compare_page *page, struct text *out, struct error *err)
{
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct page_section *sections CLEANUP_FREE =
		calloc(page->headings.count + 1, sizeof(*sections));
	int rc = sections != NULL ? 0 : error_memory(err);
	for (size_t i = 0; rc == 0 && i < page->headings.count; i++) {
		rc = text_list_addf(&ids, err, SECTION_ID, i);
		if (rc == 0)
			sections[i] = (struct page_section){ids.items[i], page->headings.items[i]};
	}
	if (rc < 0)
		return rc;
	page_begin(out, &(struct page){.kind = "Comparison",
				       .title = text_string(&page->title),
				       .sections = sections});
	text_add_all(out, &page->body);
	page_end(out);
	return out->failed || page->title.failed ? error_memory(err) : 0;
}

void compare_page_free(struct compare_page *page)
{
	text_free(&page->title);
	text_free(&page->body);
	text_list_free(&page->headings);
	*page = (struct compare_page){0};
}
