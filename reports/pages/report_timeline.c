/* SPDX-License-Identifier: MIT */
#include "reports/pages/report_page.h"

/* A lane is drawn LANE_WIDTH units wide and stretched to the page's width, so its text is in the table around it. */
enum { LANE_WIDTH = 1000, LANE_HEIGHT = 20, BAR_LEAST = 2 };

static const char lane[] = "<svg class=\"lane\" viewBox=\"0 0 1000 20\" "
			   "preserveAspectRatio=\"none\" aria-hidden=\"true\">";

/* The place of a bar on a lane for `total`; false: it is outside, because a clock was wrong. */
static bool place_bar(int64_t begin, int64_t size, int64_t total, int *left, int *right)
{
	if (begin < 0 || size < 0 || begin > total || size > total)
		return false;
	*left = (int)((double)begin * LANE_WIDTH / (double)total);
	*right = (int)((double)(begin + size) * LANE_WIDTH / (double)total);
	*right = *right < *left + BAR_LEAST ? *left + BAR_LEAST : *right;
	*right = *right > LANE_WIDTH ? LANE_WIDTH : *right;
	return *left < *right;
}

static void add_bar(struct text *out, int left, int right)
{
	text_addf(out, "M%d 0H%dV%dH%dz", left, right, LANE_HEIGHT, left);
}

/* The checks of one suite and one tone are one shape, in which bars that touch are one bar. */
static void add_bars(const struct report_page *page, const struct view_check *head,
		     enum page_tone tone)
{
	const struct view *view = &page->findings->view;
	int64_t total = view_duration(page->report, "/run/durationMs");
	int begin = 0;
	int end = 0;
	html_addf(page->out, "<path class=\"%s\" d=\"", page_tone_names[tone]);
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

void report_page_bar(struct text *out, const int64_t *sizes, const char *const *classes,
		     size_t count)
{
	int64_t total = 0;
	int64_t begin = 0;
	for (size_t i = 0; i < count; i++)
		total += sizes[i];
	text_add(out, lane);
	for (size_t i = 0; i < count; i++) {
		int left = 0;
		int right = 0;
		if (sizes[i] > 0 && place_bar(begin, sizes[i], total, &left, &right)) {
			html_addf(out, "<path class=\"%s\" d=\"", classes[i]);
			add_bar(out, left, right);
			text_add(out, "\"/>");
		}
		begin += sizes[i];
	}
	text_add(out, "</svg>\n");
}

/* The suite of the check, which is its first. */
static void add_suite(const struct report_page *page, const struct view_check *head)
{
	const struct view *view = &page->findings->view;
	int64_t spent = 0;
	size_t count = 0;
	text_add(page->out, "<tr><th scope=\"row\">");
	html_text_part(page->out, head->id, head->suite_size);
	text_add(page->out, "</th><td class=\"lanes\">");
	text_add(page->out, lane);
	for (int tone = 0; tone < PAGE_TONE_COUNT; tone++)
		add_bars(page, head, (enum page_tone)tone);
	for (const struct view_check *check = head; check < view->checks + view->count; check++) {
		const bool ran = view_same_suite(head, check) &&
				 json_pointer(check->json, "/time/startedMs") != NULL;
		spent += ran ? check->duration_ms : 0;
		count += ran ? 1 : 0;
	}
	html_addf(page->out, "</svg></td><td class=\"number\">%zu</td><td class=\"number\">",
		  count);
	page_add_duration(page->out, spent);
	text_add(page->out, "</td></tr>\n");
}

void report_page_timeline(const struct report_page *page)
{
	static const struct {
		const char *pointer, *name;
	} parts[] = {{"/run/time/criMs", "container runtime"},
		     {"/run/time/probeMs", "probes at work"},
		     {"/run/time/declaredWaitMs", "declared waits"},
		     {"/run/time/otherMs", "the harness itself"}};
	static const char *const classes[] = {"p1", "p2", "p3", "p4"};
	const struct view *view = &page->findings->view;
	const int64_t duration = view_duration(page->report, "/run/durationMs");
	int64_t sizes[ARRAY_SIZE(parts)] = {0};
	struct text *out = page->out;
	if (duration == 0) {
		text_add(out, "<p>The report does not say when its checks ran.</p>\n");
		return;
	}

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		sizes[i] = view_duration(page->report, parts[i].pointer);
	report_page_bar(out, sizes, classes, ARRAY_SIZE(sizes));
	text_add(out, "<dl class=\"parts\">\n");
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		html_addf(out, "<div class=\"%s\"><dt>%s</dt><dd>", classes[i], parts[i].name);
		page_add_duration(out, sizes[i]);
		text_add(out, "</dd></div>\n");
	}

	text_add(out, "</dl>\n<table class=\"timeline\" aria-label=\"Timeline by suite\">\n"
		      "<thead><tr><th scope=\"col\">Suite</th><th scope=\"col\" class=\"axis\">"
		      "<span>0 s</span> <span>");
	page_add_duration(out, duration);
	text_add(out, "</span></th><th scope=\"col\" class=\"number\">Ran</th>"
		      "<th scope=\"col\" class=\"number\">Time</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < view->count; i++) {
		if (view_begins_suite(view, i))
			add_suite(page, &view->checks[i]);
	}
	page_table_end(out);
}
