/* SPDX-License-Identifier: MIT */
/* By device: the APIs that work on it, and the containers that saw it. */
#include "reports/pages/report_page.h"

#include <string.h>

enum { CONTAINERS_MAX = 200 };

static const char suite[] = "api.";

static bool has_device_outcomes(const struct view_check *check)
{
	return json_first(json_pointer(check->json, "/deviceOutcomes")) != NULL;
}

/* A row of the grid: an API that was tested, or could not be. */
static bool is_row(const struct view_check *check)
{
	return text_starts_with(check->id, suite) &&
	       (has_device_outcomes(check) ||
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

/* The outcome of the check on one device. */
static void add_cell(struct text *out, const struct view_check *check, const char *ref, bool dense)
{
	json_each (item, json_pointer(check->json, "/deviceOutcomes")) {
		const enum report_outcome outcome =
			report_outcome_of(view_string(item, "/outcome"));
		if (strcmp(view_string(item, "/ref"), ref) != 0 || outcome == REPORT_OUTCOME_COUNT)
			continue;
		const char *word = report_outcome_names[outcome];
		page_heat_cell(out, page_tone_of(outcome), 1, 1, NULL, dense ? word : "",
			       dense ? "" : word);
		return;
	}
	page_heat_cell(out, PAGE_QUIET, 0, 0, NULL, "not tested", "");
}

/* The head of a grid up to its devices, with their names if `named`: the row is open. */
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
	const cJSON *devices = report_page_devices(page);
	const bool dense = report_page_is_dense(page);
	page_grid_begin(page->out, dense ? "dense" : "", "APIs by device");
	add_grid_head(page, headings, !dense);
	text_add(page->out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < view->count; i++) {
		const struct view_check *check = &view->checks[i];
		if (!is_row(check))
			continue;
		text_add(page->out, "<tr><th scope=\"row\">");
		html_open_link(page->out, "name", "", "c-", check->id);
		html_addf(page->out, "%s</a></th>", check->id + strlen(suite));
		if (has_device_outcomes(check)) {
			json_each (device, devices)
				add_cell(page->out, check, view_string(device, "/ref"), dense);
		} else { /* it ended before it reached a device */
			html_addf(page->out, "<td colspan=\"%d\">", cJSON_GetArraySize(devices));
			page_outcome(page->out, check->outcome);
			html_addf(page->out, " %s</td>", check->reason);
		}
		text_add(page->out, "</tr>\n");
	}
	text_add(page->out, "</tbody>");
	page_grid_end(page->out);
}

/* How a container sees a device. */
enum visibility { UNSEEN, OWN, FOREIGN, MISSED, VISIBILITY_COUNT };

/* A dot, a cross, a ring. */
static const struct {
	enum page_tone tone;
	const char *shape, *word;
} visibilities[VISIBILITY_COUNT] = {
	[OWN] = {PAGE_GOOD, "M3 8a5 5 0 1 0 10 0a5 5 0 1 0-10 0", "granted and seen"},
	[FOREIGN] = {PAGE_BAD, "M3 3l10 10m0-10L3 13", "seen, but not granted"},
	[MISSED] = {PAGE_WARN, "M3 8a5 5 0 1 0 10 0a5 5 0 1 0-10 0", "granted, but not seen"},
};

static bool holds(const cJSON *list, const char *ref)
{
	json_each (item, list) {
		if (cJSON_IsString(item) && strcmp(item->valuestring, ref) == 0)
			return true;
	}
	return false;
}

static enum visibility visibility_of(const cJSON *observation, const char *ref)
{
	const bool granted = holds(json_pointer(observation, "/granted"), ref);
	if (holds(json_pointer(observation, "/saw"), ref))
		return granted ? OWN : FOREIGN;
	return granted ? MISSED : UNSEEN;
}

/* Counts the report's devices by their visibility. Returns the number of devices that the container saw and that cannot
 * be told from each other, or are not the report's. */
static int64_t count_devices(const struct report_page *page, const cJSON *observation,
			     int64_t counts[VISIBILITY_COUNT])
{
	json_each (device, report_page_devices(page))
		counts[visibility_of(observation, view_string(device, "/ref"))]++;
	const int64_t others = view_int(observation, "/others") +
			       cJSON_GetArraySize(json_pointer(observation, "/saw")) - counts[OWN] -
			       counts[FOREIGN];
	return others > 0 ? others : 0;
}

/* Iterates over the observations of all checks, from a zeroed structure; false: there are no more. */
struct observation_at {
	size_t check; /* after the observation's */
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

static void add_shape(struct text *out, enum visibility visibility)
{
	html_addf(
		out,
		"<svg class=\"look %s\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"%s\"/></svg>",
		page_tone_names[visibilities[visibility].tone], visibilities[visibility].shape);
}

/* `count`: of indistinguishable devices; 0: the cell is one device. */
static void add_visibility(struct text *out, enum visibility visibility, int64_t count)
{
	text_add(out, "<td>");
	if (visibility != UNSEEN) {
		add_shape(out, visibility);
		html_addf(out, "<span class=\"sr\">%s</span>", visibilities[visibility].word);
	}
	if (count != 0)
		html_addf(out, " %lld", (long long)count);
	text_add(out, "</td>");
}

static void add_observation(const struct report_page *page, const struct observation_at *at,
			    bool others_column)
{
	const cJSON *observation = at->observation;
	int64_t counts[VISIBILITY_COUNT] = {0};
	const int64_t others = count_devices(page, observation, counts);
	const int64_t missed = counts[MISSED];

	/* Indistinguishable devices count as the container's own while they are no more than the
	 * granted devices that it did not see. */
	enum page_tone tone = PAGE_GOOD;
	const char *word =
		json_first(json_pointer(observation, "/granted")) != NULL ? "only its own" : "none";
	if (counts[FOREIGN] != 0 || others > missed) {
		tone = PAGE_BAD;
		word = "others as well";
	} else if (missed > others) {
		tone = PAGE_WARN;
		word = "not all of its own";
	}

	html_addf(page->out, "<tr><th scope=\"row\">%s ", view_string(observation, "/container"));
	report_page_check_link(page->out, page->findings->view.checks[at->check - 1].id);
	text_add(page->out, "</th><td>");
	page_badge(page->out, tone, word);
	text_add(page->out, "</td>");
	json_each (device, report_page_devices(page)) {
		enum visibility visibility =
			visibility_of(observation, view_string(device, "/ref"));
		if (visibility == MISSED && others >= missed)
			visibility = UNSEEN; /* it may be one of the others */
		add_visibility(page->out, visibility, 0);
	}
	if (others_column)
		add_visibility(page->out,
			       others == 0	 ? UNSEEN
			       : others > missed ? FOREIGN
						 : OWN,
			       others);
	text_add(page->out, "</tr>\n");
}

void report_page_isolation(const struct report_page *page)
{
	static const char *const headings[] = {"Container", "Saw", NULL};
	struct text *out = page->out;

	/* Indistinguishable devices have a column of their own, if a container saw any. */
	struct observation_at at = {0};
	bool others_column = false;
	for (size_t i = 0; i < CONTAINERS_MAX && next_observation(page, &at); i++) {
		if (count_devices(page, at.observation, (int64_t[VISIBILITY_COUNT]){0}) != 0)
			others_column = true;
	}

	page_grid_begin(out, "isolation dense", "Isolation");
	add_grid_head(page, headings, false);
	if (others_column)
		text_add(out, "<th scope=\"col\" class=\"device\">indistinguishable</th>");
	text_add(out, "</tr></thead>\n<tbody>\n");
	size_t rows = 0;
	at = (struct observation_at){0};
	while (next_observation(page, &at)) {
		if (rows++ < CONTAINERS_MAX)
			add_observation(page, &at, others_column);
	}
	text_add(out, "</tbody>");
	page_grid_end(out);
	page_more(out, rows > CONTAINERS_MAX ? rows - CONTAINERS_MAX : 0, " containers");

	text_add(out, "<p class=\"legend\">");
	for (int visibility = OWN; visibility < VISIBILITY_COUNT; visibility++) {
		text_add(out, "<span>");
		add_shape(out, (enum visibility)visibility);
		html_addf(out, "%s</span>", visibilities[visibility].word);
	}
	text_add(out, "</p>\n");
}
