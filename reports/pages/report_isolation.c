/* SPDX-License-Identifier: MIT */
/* The containers that saw each device. */
#include "reports/pages/report_page.h"

#include <stdio.h>

enum { CONTAINERS_MAX = 200 };

/* How a container sees a device. */
enum visibility { UNSEEN, OWN, FOREIGN, MISSED, VISIBILITY_COUNT };

static const struct {
	enum doc_tone tone;
	const char *word;
} visibilities[VISIBILITY_COUNT] = {
	[UNSEEN] = {DOC_QUIET, ""},
	[OWN] = {DOC_GOOD, "granted and seen"},
	[FOREIGN] = {DOC_BAD, "seen, but not granted"},
	[MISSED] = {DOC_WARN, "granted, but not seen"},
};

static bool holds(const cJSON *list, const char *ref)
{
	json_each (item, list) {
		if (cJSON_IsString(item) && text_equal(item->valuestring, ref))
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

/* Counts the report's devices by their visibility. Returns the number of devices that the container saw and that cannot be
 * distinguished, or are not the report's. */
static int64_t count_devices(const struct report_document *it, const cJSON *observation,
			     int64_t counts[VISIBILITY_COUNT])
{
	json_each (device, report_devices(it))
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

static bool next_observation(const struct report_document *it, struct observation_at *at)
{
	const struct view *view = &it->findings.view;
	at->observation = at->observation != NULL ? at->observation->next : NULL;
	while (at->observation == NULL && at->check < view->count)
		at->observation =
			json_first(json_pointer(view->checks[at->check++].json, "/observations"));
	return at->observation != NULL;
}

size_t report_page_count_containers(const struct report_document *it)
{
	struct observation_at at = {0};
	size_t count = 0;
	while (next_observation(it, &at))
		count++;
	return count;
}

/* `count`: of indistinguishable devices; 0: the cell is one device. */
static void add_visibility(struct doc *doc, enum visibility visibility, int64_t count)
{
	const int seen = visibility != UNSEEN ? 1 : 0;
	char text[32] = "";
	if (count != 0)
		(void)snprintf(text, sizeof(text), "%lld", (long long)count);
	doc_heat(doc, visibilities[visibility].tone, (size_t)seen, (size_t)seen, NULL,
		 visibilities[visibility].word, text);
}

static void add_observation(struct report_document *it, const struct observation_at *at,
			    bool others_column)
{
	const cJSON *observation = at->observation;
	const char *id = it->findings.view.checks[at->check - 1].id;
	int64_t counts[VISIBILITY_COUNT] = {0};
	const int64_t others = count_devices(it, observation, counts);
	const int64_t missed = counts[MISSED];

	/* Indistinguishable devices count as the container's own while they are no more than the
	 * granted devices that it did not see. */
	enum doc_tone tone = DOC_GOOD;
	const char *word =
		json_first(json_pointer(observation, "/granted")) != NULL ? "only its own" : "none";
	if (counts[FOREIGN] != 0 || others > missed) {
		tone = DOC_BAD;
		word = "others as well";
	} else if (missed > others) {
		tone = DOC_WARN;
		word = "not all of its own";
	}

	doc_add(it->doc, "<tr><th>%s ", view_string(observation, "/container"));
	report_add_check(it, "id", id, id);
	doc_add(it->doc, "<td><badge class=%s>%s</badge>", doc_tone_names[tone], word);
	json_each (device, report_devices(it)) {
		enum visibility visibility =
			visibility_of(observation, view_string(device, "/ref"));
		if (visibility == MISSED && others >= missed)
			visibility = UNSEEN; /* it may be one of the others */
		add_visibility(it->doc, visibility, 0);
	}
	if (others_column)
		add_visibility(it->doc,
			       others == 0	 ? UNSEEN
			       : others > missed ? FOREIGN
						 : OWN,
			       others);
}

void report_page_isolation(struct report_document *it)
{
	/* Indistinguishable devices have a column of their own, if a container saw any. */
	struct observation_at at = {0};
	bool others_column = false;
	size_t rows = 0;
	for (size_t i = 0; i < CONTAINERS_MAX && next_observation(it, &at); i++) {
		if (count_devices(it, at.observation, (int64_t[VISIBILITY_COUNT]){0}) != 0)
			others_column = true;
	}

	doc_grid(it->doc, "isolation dense", "Isolation");
	doc_add(it->doc, "<tr><th>Container<th>Saw");
	json_each (device, report_devices(it))
		doc_add(it->doc, "<th class=device><span class=id>%s</span>",
			view_string(device, "/ref"));
	if (others_column)
		doc_add(it->doc, "<th class=device>indistinguishable");
	doc_add(it->doc, "<tbody>");
	at = (struct observation_at){0};
	while (next_observation(it, &at)) {
		if (rows++ < CONTAINERS_MAX)
			add_observation(it, &at, others_column);
	}
	doc_end(it->doc, DOC_BOX);
	report_add_more(it, rows, CONTAINERS_MAX, "containers");
}
