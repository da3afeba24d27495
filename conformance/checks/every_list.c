/* SPDX-License-Identifier: MIT */
#include "conformance/checks/every_list.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "conformance/checks/every_check.h"
#include "conformance/checks/list_and_watch.h"

#include <stdlib.h>
#include <string.h>

enum {
	LATER_MS = 2000,
	WATCH_THOROUGH_MS = 600000, /* LAW-13 */
	JUDGED_MAX = 200,	    /* lists of a check: a plugin may send thousands */
};

static const char kept_file[] = "lists.ndjson";

/* About the first device that is not sound; NULL: all are. Caller frees. */
static char *find_unsound(const struct kubelet_device_list *list)
{
	const struct kubelet_device **sorted CLEANUP_FREE = list_sorted(list);
	for (size_t i = 0; i < list->count; i++) {
		const struct kubelet_device *device = sorted[i];
		const bool is_text = device->id[0] != '\0' && list_id_is_text(device->id);
		const bool is_twice = i > 0 && text_equal(device->id, sorted[i - 1]->id);
		if (is_text && !is_twice && list_health_is_known(device))
			continue;
		struct text id CLEANUP_TEXT = {0};
		text_add_escaped(&id, device->id, strlen(device->id));
		return !is_text ? text_format("the id '%s'", text_string(&id))
		       : is_twice
			       ? text_format("%s twice", text_string(&id))
			       : text_format("health '%s' of %s", device->health, text_string(&id));
	}
	return NULL;
}

void every_list_see(struct rig *rig, const struct kubelet_event *event)
{
	struct every_list *lists = &rig->lists;
	lists->count++;
	const char *only = rig->context->resource;
	const bool first = !text_list_has(&lists->listed, event->resource);
	if ((only != NULL && !text_equal(event->resource, only)) || lists->wrong != NULL ||
	    lists->later == JUDGED_MAX || text_list_has(&lists->unsound, event->resource))
		return;
	char *wrong CLEANUP_FREE = find_unsound(event->devices);
	if (first) {
		text_list_add(&lists->listed, event->resource);
		if (wrong != NULL)
			text_list_add(&lists->unsound, event->resource);
		return;
	}
	lists->later++;
	if (wrong != NULL)
		lists->wrong = text_format("%s lists %s", event->resource, wrong);
}

void every_list_keep(struct rig *rig)
{
	if (rig->lists.later != 0)
		every_check_keep(rig->run, kept_file, rig->lists.wrong);
	rig->lists.later = 0;
}

void every_list_free(struct every_list *lists)
{
	text_list_free(&lists->listed);
	text_list_free(&lists->unsound);
	free(lists->wrong);
}

void list_later_lists(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	if (rig == NULL)
		return;
	/* Where other checks have kept theirs, more are of use to a thorough run only. */
	if (rig->context->thorough || !file_exists(check_run_path(run, kept_file)))
		(void)rig_watch(rig, LATER_MS, WATCH_THOROUGH_MS);
	every_list_keep(rig);

	const int count =
		every_check_judge(run, kept_file, "later lists that a check saw", "sound");
	if (count == 0 && rig->lists.unsound.count != 0)
		check_unsupported(run, "the first list is not sound; see list-and-watch.ids and "
				       "list-and-watch.health");
	else if (count == 0)
		(void)check_expect_is(run, true, "later lists", "sound", "none");
}
