/* SPDX-License-Identifier: MIT */
#include "reports/page/report_page.h"

/* A lane is drawn LANE_WIDTH units wide and stretched to the width that there is, so it holds no text: the table around
 * it does. */
enum { LANE_WIDTH = 1000, LANE_HEIGHT = 20, BAR_LEAST = 2 };

bool report_page_has_timeline(const struct report_page *page)
{
	return view_int(page->report, "/run/durationMs") > 0;
}

static void open_lane(struct text *out)
{
	text_addf(out,
		  "<svg class=\"lane\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		  "aria-hidden=\"true\">",
		  LANE_WIDTH, LANE_HEIGHT);
}

/* Its units on a lane that stands for `total`; false: it is outside, by clocks that lie. */
static bool place_bar(int64_t begin, int64_t size, int64_t total, int *left, int *right)
{
	if (begin < 0 || size < 0 || begin > total || size > total)
		return false;
	*left = (int)(begin * LANE_WIDTH / total);
	*right = (int)((begin + size) * LANE_WIDTH / total);
	*right = *right < *left + BAR_LEAST ? *left + BAR_LEAST : *right;
	*right = *right > LANE_WIDTH ? LANE_WIDTH : *right;
	return *left < *right;
}

static void add_bar(struct text *out, int left, int right)
{
	text_addf(out, "M%d 0H%dV%dH%dz", left, right, LANE_HEIGHT, left);
}

/* The checks of one suite and one tone are one shape, in which those that no eye tells apart are one bar. */
static void add_bars(const struct report_page *page, const struct view_check *head,
		     enum page_tone tone)
{
	const struct view *view = &page->findings->view;
	int64_t total = view_int(page->report, "/run/durationMs");
	int begin = 0;
	int end = 0;
	text_addf(page->out, "<path class=\"%s\" d=\"", page_tone_names[tone]);
	for (const struct view_check *check = head; check < view->checks + view->count; check++) {
		int left = 0;
		int right = 0;
		if (!view_same_suite(head, check) || page_tone_of(check->outcome) != tone ||
		    json_pointer(check->json, "/time/startedMs") == NULL ||
		    !place_bar(view_int(check->json, "/time/startedMs"), check->duration_ms, total,
			       &left, &right))
			continue;
		if (left >= end) {
			if (end != 0)
				add_bar(page->out, begin, end);
			begin = left;
		}
		end = right > end ? right : end;
	}
	if (end != 0)
		add_bar(page->out, begin, end);
	text_add(page->out, "\"/>");
}

/* The suite to which the check belongs, which is its first one. */
static void add_suite(const struct report_page *page, const struct view_check *head)
{
	const struct view *view = &page->findings->view;
	int64_t spent = 0;
	size_t count = 0;
	text_add(page->out, "<tr><th scope=\"row\">");
	html_text_part(page->out, head->id, view_suite_size(head));
	text_add(page->out, "</th><td class=\"lanes\">");
	open_lane(page->out);
	for (int tone = 0; tone < PAGE_TONE_COUNT; tone++)
		add_bars(page, head, (enum page_tone)tone);
	for (const struct view_check *check = head; check < view->checks + view->count; check++) {
		bool ran = view_same_suite(head, check) &&
			   json_pointer(check->json, "/time/startedMs") != NULL;
		spent += ran ? check->duration_ms : 0;
		count += ran ? 1 : 0;
	}
	text_addf(page->out, "</svg></td><td class=\"number\">%zu</td><td class=\"number\">",
		  count);
	page_add_duration(page->out, spent);
	text_add(page->out, "</td></tr>\n");
}

/* Where the time went: one stacked bar, and the numbers. */
static void add_parts(const struct report_page *page)
{
	static const struct {
		const char *pointer, *name, *class;
	} parts[] = {
		{"/run/time/criMs", "container runtime", "p1"},
		{"/run/time/probeMs", "probes at work", "p2"},
		{"/run/time/declaredWaitMs", "declared waits", "p3"},
		{"/run/time/otherMs", "the harness itself", "p4"},
	};
	int64_t total = view_int(page->report, "/run/time/totalMs");
	int64_t begin = 0;
	if (total <= 0)
		return;
	open_lane(page->out);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		int64_t size = view_int(page->report, parts[i].pointer);
		int left = 0;
		int right = 0;
		if (place_bar(begin, size, total, &left, &right)) {
			text_addf(page->out, "<path class=\"%s\" d=\"", parts[i].class);
			add_bar(page->out, left, right);
			text_add(page->out, "\"/>");
		}
		begin += size;
	}
	text_add(page->out, "</svg>\n<dl class=\"parts\">\n");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		text_addf(page->out, "<div class=\"%s\"><dt>%s</dt><dd>", parts[i].class,
			  parts[i].name);
		page_add_duration(page->out, view_int(page->report, parts[i].pointer));
		text_add(page->out, "</dd></div>\n");
	}
	text_add(page->out, "</dl>\n");
}

void report_page_timeline(const struct report_page *page)
{
	const struct view *view = &page->findings->view;
	add_parts(page);
	page_table_begin(page->out, "timeline", "Timeline by suite");
	text_add(page->out,
		 "<thead><tr><th scope=\"col\">Suite</th><th scope=\"col\" class=\"axis\">"
		 "<span>0 s</span> <span>");
	page_add_duration(page->out, view_int(page->report, "/run/durationMs"));
	text_add(page->out, "</span></th><th scope=\"col\" class=\"number\">Ran</th>"
			    "<th scope=\"col\" class=\"number\">Time</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < view->count; i++) {
		if (view_begins_suite(view, i))
			add_suite(page, &view->checks[i]);
	}
	text_add(page->out, "</tbody>");
	page_table_end(page->out);
}
