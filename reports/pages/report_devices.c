/* SPDX-License-Identifier: MIT */
/* By device: which API works on it, and which container saw it. */
#include "reports/pages/report_page.h"

#include <string.h>

enum { CONTAINERS_MAX = 200 };

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

/* The head of a grid up to its devices, with their names if wanted: the row is open. */
static void add_grid_head(const struct report_page *page, const char *const *headings, bool named)
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
	add_grid_head(page, headings, !dense);
	text_add(page->out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < view->count; i++) {
		if (is_row(&view->checks[i]))
			add_row(page, &view->checks[i]);
	}
	text_add(page->out, "</tbody>");
	page_grid_end(page->out);
}

/* What a container saw of a device. */
enum look { LOOK_NOTHING, LOOK_OWN, LOOK_FOREIGN, LOOK_MISSED, LOOK_COUNT };

/* A dot, a cross, a ring. */
static const struct {
	enum page_tone tone;
	const char *shape, *word;
} looks[LOOK_COUNT] = {
	[LOOK_OWN] = {PAGE_GOOD, "M3 8a5 5 0 1 0 10 0a5 5 0 1 0-10 0", "granted and seen"},
	[LOOK_FOREIGN] = {PAGE_BAD, "M3 3l10 10m0-10L3 13", "seen, and not granted"},
	[LOOK_MISSED] = {PAGE_WARN, "M3 8a5 5 0 1 0 10 0a5 5 0 1 0-10 0", "granted, and not seen"},
};

static bool holds(const cJSON *list, const char *ref)
{
	json_each (item, list) {
		if (cJSON_IsString(item) && strcmp(item->valuestring, ref) == 0)
			return true;
	}
	return false;
}

static enum look look_of(const cJSON *observation, const char *ref)
{
	const bool granted = holds(json_pointer(observation, "/granted"), ref);
	if (holds(json_pointer(observation, "/saw"), ref))
		return granted ? LOOK_OWN : LOOK_FOREIGN;
	return granted ? LOOK_MISSED : LOOK_NOTHING;
}

/* How many devices of the report are seen so. */
static int64_t count_looks(const struct report_page *page, const cJSON *observation, enum look look)
{
	int64_t count = 0;
	json_each (device, report_page_devices(page))
		count += look_of(observation, view_string(device, "/ref")) == look ? 1 : 0;
	return count;
}

/* How many devices it saw that cannot be told apart, or are none of the report's. */
static int64_t others_of(const struct report_page *page, const cJSON *observation)
{
	const int64_t others = view_int(observation, "/others") +
			       cJSON_GetArraySize(json_pointer(observation, "/saw")) -
			       count_looks(page, observation, LOOK_OWN) -
			       count_looks(page, observation, LOOK_FOREIGN);
	return others > 0 ? others : 0;
}

/* The word about a container. Devices that no API tells apart are its own as long as they are no more than it was granted. */
static const char *judge(const struct report_page *page, const cJSON *observation,
			 enum page_tone *tone)
{
	const int64_t missed = count_looks(page, observation, LOOK_MISSED);
	const int64_t others = others_of(page, observation);
	*tone = PAGE_BAD;
	if (count_looks(page, observation, LOOK_FOREIGN) != 0 || others > missed)
		return "others, too";
	*tone = missed > others ? PAGE_WARN : PAGE_GOOD;
	if (missed > others)
		return "not all of its own";
	return json_first(json_pointer(observation, "/granted")) != NULL ? "its own alone" : "none";
}

/* Goes through the observations of all checks; false: there are no more. Zeroed it stands before the first. */
struct observation_at {
	size_t check; /* behind the observation's */
	const cJSON *observation;
};

static bool next_observation(const struct report_page *page, struct observation_at *at)
{
	const struct view *view = &page->findings->view;
	at->observation = at->observation != NULL ? at->observation->next : NULL;
	while (at->observation == NULL && at->check < view->count)
		at->observation =
			json_first(json_pointer(view->checks[at->check++].json, "/observations"));
	return at->observation != NULL;
}

size_t report_page_count_containers(const struct report_page *page)
{
	struct observation_at at = {0};
	size_t count = 0;
	while (next_observation(page, &at))
		count++;
	return count;
}

/* Did a container see devices that cannot be told apart? They have a column of their own. */
static bool has_others(const struct report_page *page)
{
	struct observation_at at = {0};
	for (size_t rows = 0; rows < CONTAINERS_MAX && next_observation(page, &at); rows++) {
		if (others_of(page, at.observation) != 0)
			return true;
	}
	return false;
}

static void add_shape(struct text *out, enum look look)
{
	html_addf(
		out,
		"<svg class=\"look %s\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"%s\"/></svg>",
		page_tone_names[looks[look].tone], looks[look].shape);
}

/* `count`: of devices that cannot be told apart; 0 of one. */
static void add_look(struct text *out, enum look look, int64_t count)
{
	text_add(out, "<td>");
	if (look != LOOK_NOTHING) {
		add_shape(out, look);
		html_addf(out, "<span class=\"sr\">%s</span>", looks[look].word);
	}
	if (count != 0)
		html_addf(out, " %lld", (long long)count);
	text_add(out, "</td>");
}

static void add_observation(const struct report_page *page, const struct observation_at *at,
			    bool others_column)
{
	enum page_tone tone = PAGE_QUIET;
	const char *word = judge(page, at->observation, &tone);
	const int64_t missed = count_looks(page, at->observation, LOOK_MISSED);
	const int64_t others = others_of(page, at->observation);
	html_addf(page->out, "<tr><th scope=\"row\">%s ",
		  view_string(at->observation, "/container"));
	report_page_check_link(page->out, page->findings->view.checks[at->check - 1].id);
	text_add(page->out, "</th><td>");
	page_badge(page->out, tone, word);
	text_add(page->out, "</td>");
	json_each (device, report_page_devices(page)) {
		const enum look look = look_of(at->observation, view_string(device, "/ref"));
		const bool may_be_other = look == LOOK_MISSED && others >= missed;
		add_look(page->out, may_be_other ? LOOK_NOTHING : look, 0);
	}
	if (others_column)
		add_look(page->out,
			 others == 0	   ? LOOK_NOTHING
			 : others > missed ? LOOK_FOREIGN
					   : LOOK_OWN,
			 others);
	text_add(page->out, "</tr>\n");
}

static void add_legend(struct text *out)
{
	text_add(out, "<p class=\"legend\">");
	for (int look = LOOK_OWN; look < LOOK_COUNT; look++) {
		text_add(out, "<span>");
		add_shape(out, (enum look)look);
		html_addf(out, "%s</span>", looks[look].word);
	}
	text_add(out, "</p>\n");
}

void report_page_isolation(const struct report_page *page)
{
	static const char *const headings[] = {"Container", "Saw", NULL};
	const bool others_column = has_others(page);
	struct observation_at at = {0};
	size_t rows = 0;
	page_grid_begin(page->out, "isolation dense", "Isolation");
	add_grid_head(page, headings, false);
	text_add(page->out,
		 others_column ? "<th scope=\"col\" class=\"device\">not told apart</th>" : "");
	text_add(page->out, "</tr></thead>\n<tbody>\n");
	while (next_observation(page, &at)) {
		if (rows++ < CONTAINERS_MAX)
			add_observation(page, &at, others_column);
	}
	text_add(page->out, "</tbody>");
	page_grid_end(page->out);
	page_more(page->out, rows > CONTAINERS_MAX ? rows - CONTAINERS_MAX : 0, " containers");
	add_legend(page->out);
}
