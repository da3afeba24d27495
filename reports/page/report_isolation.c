/* SPDX-License-Identifier: MIT */
#include "reports/page/report_page.h"

#include <string.h>

/* The picture, in units of its own: containers on the left, devices on the right, and between them what was seen. */
enum {
	CONTAINERS_MAX = 40,
	DEVICES_MAX = 16,
	PICTURE_WIDTH = 440,
	BOX_WIDTH = 165,
	BOX_HEIGHT = 28,
	BOX_STEP = 38,
	LABEL_MAX = 22, /* bytes that fit into a box */
};

/* What a container saw of a device. */
enum look { LOOK_NOTHING, LOOK_OWN, LOOK_FOREIGN, LOOK_MISSED, LOOK_COUNT };

static const char *const look_classes[LOOK_COUNT] = {NULL, "edge good", "edge bad",
						     "edge warn missed"};

static bool holds(const cJSON *list, const char *ref)
{
	json_each (item, list) {
		if (cJSON_IsString(item) && strcmp(item->valuestring, ref) == 0)
			return true;
	}
	return false;
}

static enum look look_of(const cJSON *sight, const char *ref)
{
	bool granted = holds(json_pointer(sight, "/granted"), ref);
	bool saw = holds(json_pointer(sight, "/saw"), ref);
	if (saw)
		return granted ? LOOK_OWN : LOOK_FOREIGN;
	return granted ? LOOK_MISSED : LOOK_NOTHING;
}

/* How many devices of the report are seen so. */
static size_t count_looks(const struct report_page *page, const cJSON *sight, enum look look)
{
	size_t count = 0;
	json_each (device, json_pointer(page->report, "/environment/devices"))
		count += look_of(sight, view_string(device, "/ref")) == look ? 1 : 0;
	return count;
}

/* The word about a container. Devices that no API tells apart are its own as long as they are no more than it was granted. */
static const char *judge(const struct report_page *page, const cJSON *sight, enum page_tone *tone)
{
	size_t missed = count_looks(page, sight, LOOK_MISSED);
	size_t others = (size_t)view_int(sight, "/others");
	*tone = PAGE_BAD;
	if (count_looks(page, sight, LOOK_FOREIGN) != 0 || others > missed)
		return "others, too";
	*tone = missed > others ? PAGE_WARN : PAGE_GOOD;
	if (missed > others)
		return "not all of its own";
	return json_first(json_pointer(sight, "/granted")) != NULL ? "its own alone" : "none";
}

/* Goes through the sights of all checks. `at` ends with the check and the sight; false: there are no more. */
struct sight_at {
	size_t check;
	const cJSON *sight;
};

static bool next_sight(const struct view *view, struct sight_at *at)
{
	at->sight = at->sight != NULL ? at->sight->next : NULL;
	while (at->sight == NULL && at->check < view->count)
		at->sight = json_first(json_pointer(view->checks[at->check++].json, "/sights"));
	return at->sight != NULL;
}

bool report_page_has_isolation(const struct report_page *page)
{
	struct sight_at at = {0};
	return next_sight(&page->findings->view, &at);
}

static int middle_of(int row)
{
	return row * BOX_STEP + BOX_STEP / 2;
}

static void add_box(struct text *out, int x, int row, const char *class, const char *label)
{
	int y = middle_of(row) - BOX_HEIGHT / 2;
	text_addf(out,
		  "<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>"
		  "<text x=\"%d\" y=\"%d\">",
		  class, x, y, BOX_WIDTH, BOX_HEIGHT, x + 10, y + 19);
	report_page_clipped(out, label, LABEL_MAX);
	text_add(out, "</text></g>\n");
}

/* What is foreign is marked with a cross, beside its colour. */
static void add_edge(struct text *out, enum look look, int from, int to)
{
	const int left = BOX_WIDTH;
	const int right = PICTURE_WIDTH - BOX_WIDTH;
	const int center = PICTURE_WIDTH / 2;
	if (look == LOOK_NOTHING)
		return;
	text_addf(out, "<path class=\"%s\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n", look_classes[look],
		  left, middle_of(from), center, middle_of(from), center, middle_of(to), right,
		  middle_of(to));
	if (look == LOOK_FOREIGN)
		text_addf(out, "<text class=\"mark bad\" x=\"%d\" y=\"%d\">✗</text>\n", center,
			  (middle_of(from) + middle_of(to)) / 2 + 5);
}

/* The lines of one container, to each device and to those that cannot be told apart, which stand below the devices. */
static void add_edges(const struct report_page *page, const cJSON *sight, int row, int others_row)
{
	size_t missed = count_looks(page, sight, LOOK_MISSED);
	size_t others = (size_t)view_int(sight, "/others");
	int device_row = 0;
	json_each (device, json_pointer(page->report, "/environment/devices")) {
		if (device_row == DEVICES_MAX)
			break;
		enum look look = look_of(sight, view_string(device, "/ref"));
		bool may_be_other = look == LOOK_MISSED && others >= missed;
		add_edge(page->out, may_be_other ? LOOK_NOTHING : look, row, device_row++);
	}
	if (others != 0 && others_row >= 0)
		add_edge(page->out, others > missed ? LOOK_FOREIGN : LOOK_OWN, row, others_row);
}

/* The row below the devices when a container saw some that cannot be told apart; -1: none did. */
static int find_others_row(const struct report_page *page, int device_rows)
{
	struct sight_at at = {0};
	while (next_sight(&page->findings->view, &at)) {
		if (view_int(at.sight, "/others") != 0)
			return device_rows;
	}
	return -1;
}

static void add_boxes(const struct report_page *page, int others_row)
{
	const int right = PICTURE_WIDTH - BOX_WIDTH;
	struct sight_at at = {0};
	int row = 0;
	while (row < CONTAINERS_MAX && next_sight(&page->findings->view, &at)) {
		enum page_tone tone = PAGE_QUIET;
		(void)judge(page, at.sight, &tone);
		add_box(page->out, 0, row++, page_tone_names[tone],
			view_string(at.sight, "/container"));
	}
	row = 0;
	json_each (device, json_pointer(page->report, "/environment/devices")) {
		if (row < DEVICES_MAX)
			add_box(page->out, right, row++, "device", view_string(device, "/ref"));
	}
	if (others_row >= 0)
		add_box(page->out, right, others_row, "device", "alike, not told apart");
}

static void add_picture(const struct report_page *page)
{
	const int devices = cJSON_GetArraySize(json_pointer(page->report, "/environment/devices"));
	const int device_rows = devices < DEVICES_MAX ? devices : DEVICES_MAX;
	const int others_row = find_others_row(page, device_rows);
	struct sight_at at = {0};
	int rows = 0;
	while (rows < CONTAINERS_MAX && next_sight(&page->findings->view, &at))
		rows++;
	int height = rows > device_rows + 1 ? rows : device_rows + 1;
	text_addf(page->out,
		  "<svg class=\"isolation\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 0 %d "
		  "%d\" role=\"img\" aria-label=\"Lines from containers to the devices that they "
		  "saw; the table below says the same.\">\n",
		  PICTURE_WIDTH + 2, height * BOX_STEP);
	at = (struct sight_at){0};
	for (int row = 0; row < rows && next_sight(&page->findings->view, &at); row++)
		add_edges(page, at.sight, row, others_row);
	add_boxes(page, others_row);
	text_add(page->out,
		 "</svg>\n<p class=\"legend\"><span class=\"good\">granted and seen</span> "
		 "<span class=\"bad\">✗ seen, and not granted</span> "
		 "<span class=\"warn missed\">granted, and not seen</span></p>\n");
}

static void add_refs(struct text *out, const cJSON *refs)
{
	text_add(out, "<td class=\"id\">");
	json_each (ref, refs) {
		report_page_text(out, cJSON_IsString(ref) ? ref->valuestring : "?");
		text_add(out, ref->next != NULL ? ", " : "");
	}
	text_add(out, refs->child != NULL ? "" : "–");
}

static void add_row(const struct report_page *page, const struct sight_at *at)
{
	static const cJSON none;
	const cJSON *granted = json_pointer(at->sight, "/granted");
	const cJSON *saw = json_pointer(at->sight, "/saw");
	enum page_tone tone = PAGE_QUIET;
	const char *word = judge(page, at->sight, &tone);
	int64_t others = view_int(at->sight, "/others");
	text_add(page->out, "<tr><td>");
	page_badge(page->out, tone, word);
	text_add(page->out, " ");
	report_page_text(page->out, view_string(at->sight, "/container"));
	text_add(page->out, "<br>");
	report_page_check_link(page->out, page->findings->view.checks[at->check - 1].id);
	text_add(page->out, "</td>");
	add_refs(page->out, granted != NULL ? granted : &none);
	text_add(page->out, "</td>");
	add_refs(page->out, saw != NULL ? saw : &none);
	if (others != 0)
		text_addf(page->out, " and %lld not told apart", (long long)others);
	text_add(page->out, "</td></tr>\n");
}

void report_page_isolation(const struct report_page *page)
{
	static const char *const headings[] = {"Container", "Granted", "Saw", NULL};
	struct sight_at at = {0};
	size_t rows = 0;
	add_picture(page);
	page_table_begin(page->out, NULL, "Isolation");
	page_table_head(page->out, headings);
	text_add(page->out, "<tbody>\n");
	while (next_sight(&page->findings->view, &at)) {
		if (rows++ < (size_t)CONTAINERS_MAX * 4)
			add_row(page, &at);
	}
	text_add(page->out, "</tbody>");
	page_table_end(page->out);
	if (rows > CONTAINERS_MAX)
		text_addf(
			page->out,
			"<p class=\"soft\">The picture shows the first %d of %zu containers.</p>\n",
			CONTAINERS_MAX, rows);
}
