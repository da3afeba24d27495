/* SPDX-License-Identifier: MIT */
#include "reports/pages/report_page.h"

/* A lane is drawn LANE_WIDTH units wide and stretched to the page's width, so its text is in the table around it. */
enum { LANE_WIDTH = 1000, LANE_HEIGHT = 20, BAR_LEAST = 2 };

static void begin_lane(struct doc *doc)
{
	doc_add(doc,
		"<svg class=lane viewBox='0 0 %d %d' preserveAspectRatio=none aria-hidden=true>",
		LANE_WIDTH, LANE_HEIGHT);
}

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

static void add_bar(struct text *path, int left, int right)
{
	if (right != 0)
		text_addf(path, "M%d 0H%dV%dH%dz", left, right, LANE_HEIGHT, left);
}

static void add_shape(struct doc *doc, const char *class, const struct text *path)
{
	if (path->size != 0)
		doc_add(doc, "<path class=%s d='%s'></path>", class, text_string(path));
}

void report_page_bar(struct doc *doc, const int64_t *sizes, const char *const *classes,
		     size_t count)
{
	int64_t total = 0;
	int64_t begin = 0;
	for (size_t i = 0; i < count; i++)
		total += sizes[i];
	begin_lane(doc);
	for (size_t i = 0; i < count; i++) {
		struct text path CLEANUP_TEXT = {0};
		int left = 0;
		int right = 0;
		if (sizes[i] > 0 && place_bar(begin, sizes[i], total, &left, &right))
			add_bar(&path, left, right);
		add_shape(doc, classes[i], &path);
		begin += sizes[i];
	}
	doc_end(doc, DOC_FIGURE);
}

static bool ran(const struct view_check *head, const struct view_check *check)
{
	return view_same_suite(head, check) && json_pointer(check->json, "/time/startedMs") != NULL;
}

/* The suite of the check, which is its first. Its checks of one tone are one shape, in which bars that touch are one bar. */
static void add_suite(struct report_document *it, const struct view_check *head)
{
	const struct view_check *last = it->findings.view.checks + it->findings.view.count;
	const int64_t total = view_duration(it->report, "/run/durationMs");
	int64_t spent = 0;
	size_t count = 0;
	doc_add(it->doc, "<tr><th>%.*s<td class=lanes>", (int)head->suite_size, head->id);
	begin_lane(it->doc);
	for (int tone = 0; tone < DOC_TONE_COUNT; tone++) {
		struct text path CLEANUP_TEXT = {0};
		int begin = 0;
		int end = 0;
		for (const struct view_check *check = head; check < last; check++) {
			int left = 0;
			int right = 0;
			if (!ran(head, check) || (int)doc_tone_of(check->outcome) != tone)
				continue;
			spent += check->duration_ms;
			count++;
			if (!place_bar(view_int(check->json, "/time/startedMs"), check->duration_ms,
				       total, &left, &right))
				continue;
			if (left >= end) {
				add_bar(&path, begin, end);
				begin = left;
			}
			end = right > end ? right : end;
		}
		add_bar(&path, begin, end);
		add_shape(it->doc, doc_tone_names[tone], &path);
	}
	doc_add(it->doc, "<td class=number>%zu<td class=number>", count);
	doc_duration(it->doc, spent);
}

void report_page_timeline(struct report_document *it)
{
	static const struct {
		const char *pointer, *name;
	} parts[] = {{"/run/time/criMs", "container runtime"},
		     {"/run/time/probeMs", "probes at work"},
		     {"/run/time/declaredWaitMs", "declared waits"},
		     {"/run/time/otherMs", "the harness itself"}};
	static const char *const classes[] = {"p1", "p2", "p3", "p4"};
	const struct view *view = &it->findings.view;
	const int64_t duration = view_duration(it->report, "/run/durationMs");
	int64_t sizes[ARRAY_SIZE(parts)] = {0};
	if (duration == 0) {
		doc_add(it->doc, "<p>The report does not say when its checks ran.</p>");
		return;
	}

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		sizes[i] = view_duration(it->report, parts[i].pointer);
	report_page_bar(it->doc, sizes, classes, ARRAY_SIZE(sizes));
	doc_add(it->doc, "<dl class=parts>");
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (json_pointer(it->report, parts[i].pointer) == NULL)
			continue;
		doc_add(it->doc, "<div class=%s><dt>%s<dd>", classes[i], parts[i].name);
		doc_duration(it->doc, sizes[i]);
		doc_end(it->doc, DOC_BOX);
	}
	doc_add(it->doc, "</dl><div><table class=timeline aria-label='Timeline by suite'><thead>"
			 "<tr><th>Suite<th class=axis><span>0 s</span> <span>");
	doc_duration(it->doc, duration);
	doc_add(it->doc, "</span><th class=number>Ran<th class=number>Time<tbody>");
	for (size_t i = 0; i < view->count; i++) {
		if (view_begins_suite(view, i))
			add_suite(it, &view->checks[i]);
	}
	doc_end(it->doc, DOC_BOX);
}
