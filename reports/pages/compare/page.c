/* SPDX-License-Identifier: MIT */
/* Comparisons as a page: the changed checks, regressions first, then what the reports are about. */
#include "reports/pages/compare/page.h"

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
	[COMPARE_GONE] = {"Removed checks", PAGE_WARN},
	[COMPARE_NOT_COMPARABLE] = {"Not comparable", PAGE_WARN},
};

enum { BEFORE, AFTER, SIDE_COUNT };

static const char *const when[SIDE_COUNT] = {"before", "after"};

/* The compared reports, and the page's links to them. */
struct sides {
	const cJSON *reports[SIDE_COUNT];
	struct text links[SIDE_COUNT];
};

static void sides_free(struct sides *sides)
{
	text_free(&sides->links[BEFORE]);
	text_free(&sides->links[AFTER]);
}

static void add_environment(const struct comparison *comparison, const struct sides *sides,
			    struct text *out)
{
	static const char *const headings[] = {"part", "before", "after", NULL};
	page_table_begin(out, "sides", "What the reports are about", NULL, headings);
	text_add(out, "<tr><th scope=\"row\">report</th>");
	for (int side = BEFORE; side < SIDE_COUNT; side++) {
		const char *id = view_string(sides->reports[side], "/run/id");
		text_add(out, "<td>");
		html_open_link(out, NULL, text_string(&sides->links[side]), NULL, NULL);
		html_addf(out, "%s</a>, %.10s</td>", id[0] != '\0' ? id : "report",
			  view_string(sides->reports[side], "/run/started"));
	}
	html_addf(out, "</tr>\n<tr><th scope=\"row\">conformance</th><td>%s</td><td>%s</td></tr>\n",
		  comparison->conformance.from, comparison->conformance.to);

	/* Parts that differ come first; parts that neither report knows are left out. */
	for (int differs = 1; differs >= 0; differs--) {
		for (size_t i = 0; i < COMPARE_PART_COUNT; i++) {
			const struct compare_difference *part = &comparison->differences[i];
			if (part->is != (differs == 1) ||
			    (!part->is && strcmp(part->to, "unknown") == 0))
				continue;
			html_addf(out, "<tr class=\"%s\"><th scope=\"row\">%s ",
				  part->is ? "differs" : "same", compare_part_names[i]);
			if (part->is)
				page_badge(out, part->follows ? PAGE_QUIET : PAGE_WARN,
					   part->follows ? "follows" : "differs");
			html_addf(out, "</th><td>%s</td><td>%s%s</td></tr>\n", part->from, part->to,
				  part->is && strcmp(part->from, part->to) == 0
					  ? " (the same name, other content)"
					  : "");
		}
	}
	page_table_end(out);
}

/* Each outcome links to the check in its report; a side without the check is left out. */
static void add_change(const struct compare_change *change, const struct sides *sides,
		       struct text *out)
{
	const struct view_check *const checks[SIDE_COUNT] = {change->from, change->to};
	html_addf(out, "<li class=\"%s\" data-facet=\"%s\"><h4 class=\"id\">%s</h4>\n<dl>\n",
		  page_tone_names[kinds[change->kind].tone], compare_kind_names[change->kind],
		  change->to != NULL ? change->to->id : change->from->id);
	for (int side = BEFORE; side < SIDE_COUNT; side++) {
		if (checks[side] == NULL)
			continue;
		html_addf(out, "<div><dt>%s</dt><dd>", when[side]);
		html_open_link(out, NULL, text_string(&sides->links[side]), "c-", checks[side]->id);
		page_outcome(out, checks[side]->outcome);
		html_addf(out, "<span class=\"sr\"> %s</span></a> %s</dd></div>\n", when[side],
			  checks[side]->reason);
	}
	text_add(out, "</dl></li>\n");
}

static void add_changes(const struct comparison *comparison, const struct sides *sides,
			const char *list, struct text *out)
{
	size_t count = 0;
	for (size_t i = 0; i < COMPARE_SAME; i++)
		count += comparison->kinds[i];
	if (count == 0) {
		html_addf(out, "<p>All %zu checks ended as before.</p>\n", comparison->count);
		return;
	}
	html_addf(out, "<p class=\"soft\">%zu of %zu checks changed.</p>\n", count,
		  comparison->count);
	page_filter(out, list, "changes");
	html_addf(out, "<ul class=\"changes\" id=\"%s\">\n", list);
	for (size_t i = 0; i < count; i++) { /* unchanged checks come last */
		const enum compare_kind kind = comparison->changes[i].kind;
		if (i == 0 || comparison->changes[i - 1].kind != kind)
			html_addf(
				out,
				"<li data-group><h3>%s <span class=\"count\">%zu</span></h3></li>\n",
				kinds[kind].heading, comparison->kinds[kind]);
		add_change(&comparison->changes[i], sides, out);
	}
	text_add(out, "</ul>\n");
}

void compare_page_add(struct compare_page *page, const struct comparison *comparison,
		      const char *from, const char *to)
{
	struct sides sides CLEANUP(sides_free) = {.reports = {comparison->from, comparison->to}};
	struct text headline CLEANUP_TEXT = {0};
	char *id CLEANUP_FREE = text_format("comparison-%zu", page->count++);
	char *list CLEANUP_FREE = text_format("changes-%zu", page->count);
	struct text *out = &page->page.body;

	comparison_add_headline(comparison, &headline);
	report_add_link(from, &sides.links[BEFORE]);
	report_add_link(to, &sides.links[AFTER]);
	text_reset(&page->title);
	if (page->several)
		text_addf(&page->title, "%zu reports compared with one", page->count);
	else
		text_add_all(&page->title, &headline);

	page_section_begin(&page->page, page->several ? id : "checks",
			   page->several ? text_string(&headline) : "Checks", 0, NULL);
	add_changes(comparison, &sides, list, out);
	if (!page->several) {
		page_section_end(&page->page);
		page_section_begin(&page->page, id, "Environment", 0, NULL);
	}
	add_environment(comparison, &sides, out);
	page_section_end(&page->page);
}

void compare_page_print(const struct compare_page *page, struct text *out)
{
	page_print(&page->page, "Comparison", text_string(&page->title), out);
}

void compare_page_free(struct compare_page *page)
{
	text_free(&page->title);
	page_free(&page->page);
	*page = (struct compare_page){0};
}
