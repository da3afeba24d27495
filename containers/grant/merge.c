/* SPDX-License-Identifier: MIT */
#include "containers/grant/merge.h"

#include "base/cleanup.h"

#include <string.h>

int grant_merge_from(struct grant_merge *merge, const char *source)
{
	merge->source = source;
	return grant_keep(merge->out, &merge->source, merge->err);
}

/* What two entries of one key are compared by: "value", "/host/path (ro)". */
static char *describe(enum grant_kind kind, const struct grant_entry *entry)
{
	if (kind == GRANT_MOUNT)
		return text_format("%s (%s)", entry->host_path, entry->read_only ? "ro" : "rw");
	if (kind == GRANT_DEVICE)
		return text_format("%s (%s)", entry->host_path, entry->permissions);
	return strdup(kind == GRANT_CDI_DEVICE ? entry->name : entry->value);
}

/* `winner` NULL: the entry is dropped. */
static int add_conflict(struct grant_merge *merge, enum grant_kind kind,
			const struct grant_entry *winner, const struct grant_entry *loser,
			const char *loser_source)
{
	char *kept CLEANUP_FREE = winner != NULL ? describe(kind, winner) : NULL;
	char *lost CLEANUP_FREE = describe(kind, loser);
	if (lost == NULL || (winner != NULL && kept == NULL))
		return error_memory(merge->err);
	return grant_add_conflict(
		merge->out,
		&(struct grant_conflict){.kind = kind,
					 .key = loser->name,
					 .winner = kept,
					 .winner_resource =
						 winner != NULL ? winner->resource : NULL,
					 .loser = lost,
					 .loser_resource = loser_source,
					 .same = kept != NULL && strcmp(kept, lost) == 0,
					 .dropped = winner == NULL},
		merge->err);
}

int grant_merge_add(struct grant_merge *merge, enum grant_kind kind, struct grant_entry entry)
{
	const struct grant_list *list = &merge->out->lists[kind];
	size_t place = list->count;
	int rc = text_index_put(&merge->entries[kind], entry.name, list->count, &place, merge->err);
	if (rc != 0)
		return rc;
	if (place == list->count) {
		entry.resource = merge->source;
		return grant_add(merge->out, kind, &entry, merge->err);
	}
	struct grant_entry *winner = &list->items[place];
	bool map = kind == GRANT_ENV || kind == GRANT_ANNOTATION;
	if (!merge->replaces && (!map || winner->resource != merge->source))
		return add_conflict(merge, kind, winner, &entry, merge->source);
	const struct grant_entry loser = *winner;
	entry.name = loser.name;
	entry.resource = merge->source;
	*winner = entry;
	rc = grant_keep(merge->out, &winner->value, merge->err);
	if (rc == 0)
		rc = grant_keep(merge->out, &winner->permissions, merge->err);
	return rc == 0 ? add_conflict(merge, kind, winner, &loser, loser.resource) : rc;
}

int grant_merge_drop(struct grant_merge *merge, enum grant_kind kind,
		     const struct grant_entry *entry)
{
	return add_conflict(merge, kind, NULL, entry, merge->source);
}

void grant_merge_free(struct grant_merge *merge)
{
	for (size_t kind = 0; kind < GRANT_KINDS; kind++)
		text_index_free(&merge->entries[kind]);
}
