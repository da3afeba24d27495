/* SPDX-License-Identifier: MIT */
/* Comparisons as a page: what the reports are about, then what ended otherwise. */
#include "reports/compare/page.h"

#include "base/cleanup.h"
#include "reports/report_link.h"

#include <stdlib.h>
#include <string.h>

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
	const char *when; /* "before" */
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
	text_add(out, "<td>");
	html_open_link(out, NULL, text_string(&side->link), NULL, NULL);
	html_addf(out, "%s</a>, %.10s</td>", id[0] != '\0' ? id : "report",
		  view_string(side->report, "/run/started"));
}

static void add_part(const struct compare_difference *difference, const char *name,
		     struct text *out)
{
	html_addf(out, "<tr class=\"%s\"><th scope=\"row\">%s ",
		  difference->is ? "differs" : "same", name);
	if (difference->is)
		page_badge(out, difference->follows ? PAGE_QUIET : PAGE_WARN,
			   difference->follows ? "follows" : "differs");
	html_addf(out, "</th><td>%s</td><td>%s%s</td></tr>\n", difference->from, difference->to,
		  difference->is && strcmp(difference->from, difference->to) == 0
			  ? " (the same name, other content)"
			  : "");
}

/* What differs first; nothing is said of a part that neither report knows. */
static void add_environment(const struct comparison *comparison, const struct side *before,
			    const struct side *after, struct text *out)
{
	const char *const headings[] = {"part", before->when, after->when, NULL};
	page_table_begin(out, "sides", "What the reports are about", NULL, headings);
	text_add(out, "<tr><th scope=\"row\">report</th>");
	add_report(before, out);
	add_report(after, out);
	html_addf(out, "</tr>\n<tr><th scope=\"row\">conformance</th><td>%s</td><td>%s</td></tr>\n",
		  comparison->conformance.from, comparison->conformance.to);
	for (int differs = 1; differs >= 0; differs--) {
		for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
			const struct compare_difference *part = &comparison->differences[i];
			if (part->is == (differs == 1) &&
			    (part->is || strcmp(part->to, "unknown") != 0))
				add_part(part, compare_part_names[i], out);
		}
	}
	page_table_end(out);
}

/* The outcome, which is the way to the check in its report, and the reason; nothing where it is not there. */
static void add_ending(const struct view_check *check, const struct side *side, struct text *out)
{
	if (check == NULL)
		return;
	html_addf(out, "<div><dt>%s</dt><dd>", side->when);
	html_open_link(out, NULL, text_string(&side->link), "c-", check->id);
	page_outcome(out, check->outcome);
	html_addf(out, "<span class=\"sr\"> %s</span></a> %s</dd></div>\n", side->when,
		  check->reason);
}

static void add_change(const struct compare_change *change, const struct side *before,
		       const struct side *after, struct text *out)
{
	const struct view_check *shown = change->to != NULL ? change->to : change->from;
	html_addf(out, "<li data-facet=\"%s\"><h4 class=\"id\">%s</h4>\n<dl>\n",
		  compare_kind_names[change->kind], shown->id);
	add_ending(change->from, before, out);
	add_ending(change->to, after, out);
	text_add(out, "</dl></li>\n");
}

static void add_changes(const struct comparison *comparison, const struct side *before,
			const struct side *after, const char *list, struct text *out)
{
	struct page_facet facets[COMPARE_SAME + 1] = {{.name = NULL}};
	size_t count = 0;
	for (size_t i = 0; i < COMPARE_SAME; i++) {
		facets[i] = (struct page_facet){compare_kind_names[i], comparison->kinds[i],
						kinds[i].tone};
		count += comparison->kinds[i];
	}
	if (count == 0) {
		html_addf(out, "<p>All %zu checks ended as before.</p>\n", comparison->count);
		return;
	}
	html_addf(out, "<p class=\"soft\">%zu of %zu checks are not as they were.</p>\n", count,
		  comparison->count);
	page_filter(out, list, "changes", count, facets);
	html_addf(out, "<ul class=\"changes\" id=\"%s\">\n", list);
	for (size_t i = 0; i < count; i++) { /* those that are the same come last */
		const enum compare_kind kind = comparison->changes[i].kind;
		if (i == 0 || comparison->changes[i - 1].kind != kind)
			html_addf(
				out,
				"<li data-group><h3>%s <span class=\"count\">%zu</span></h3></li>\n",
				kinds[kind].heading, comparison->kinds[kind]);
		add_change(&comparison->changes[i], before, after, out);
	}
	text_add(out, "</ul>\n");
}

void compare_page_add(struct compare_page *page, const struct comparison *comparison,
		      const char *from, const char *to)
{
	struct side before CLEANUP(side_free) = {.when = "before", .report = comparison->from};
	struct side after CLEANUP(side_free) = {.when = "after", .report = comparison->to};
	struct text headline CLEANUP_TEXT = {0};
	char *id CLEANUP_FREE = text_format("comparison-%zu", page->count++);
	char *list CLEANUP_FREE = text_format("changes-%zu", page->count);
	struct text *out = &page->page.body;
	out->failed = out->failed || id == NULL || list == NULL;
	if (out->failed)
		return;
	comparison_add_headline(comparison, &headline);
	report_add_link(from, &before.link);
	report_add_link(to, &after.link);
	text_reset(&page->title);
	if (page->several)
		text_addf(&page->title, "%zu reports compared with one", page->count);
	else
		text_add_all(&page->title, &headline);
	page_section_begin(&page->page, id, page->several ? text_string(&headline) : "Environment",
			   0, NULL);
	add_environment(comparison, &before, &after, out);
	if (!page->several) {
		page_section_end(&page->page);
		page_section_begin(&page->page, "checks", "Checks", 0, NULL);
	}
	add_changes(comparison, &before, &after, list, out);
	page_section_end(&page->page);
	out->failed = out->failed || headline.failed || before.link.failed || after.link.failed;
}

int compare_page_print(const struct compare_page *page, struct text *out, struct error *err)
{
	page_print(&page->page, "Comparison", text_string(&page->title), out);
	return out->failed || page->title.failed ? error_memory(err) : 0;
}

void compare_page_free(struct compare_page *page)
{
	text_free(&page->title);
	page_free(&page->page);
	*page = (struct compare_page){0};
}
