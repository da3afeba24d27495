/* SPDX-License-Identifier: MIT */
#include "containers/grant/merge.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <string.h>

void grant_merge_from(struct grant_merge *merge, const char *source)
{
	merge->source = source;
	grant_keep(merge->out, &merge->source);
}

/* Two entries with the same key are compared by this text: "value", "/host/path (ro)". */
static char *describe(enum grant_kind kind, const struct grant_entry *entry)
{
	if (kind == GRANT_MOUNT)
		return text_format("%s (%s)", entry->host_path, entry->read_only ? "ro" : "rw");
	if (kind == GRANT_DEVICE)
		return text_format("%s (%s)", entry->host_path, entry->permissions);
	return memory_copy(kind == GRANT_CDI_DEVICE ? entry->name : entry->value);
}

/* `winner` NULL: the entry is dropped. */
static void add_conflict(struct grant_merge *merge, enum grant_kind kind,
			 const struct grant_entry *winner, const struct grant_entry *loser,
			 const char *loser_source)
{
	char *kept CLEANUP_FREE = winner != NULL ? describe(kind, winner) : NULL;
	char *lost CLEANUP_FREE = describe(kind, loser);
	struct grant_conflict conflict = {
		.kind = kind,
		.key = loser->name,
		.winner = kept,
		.winner_resource = winner != NULL ? winner->resource : NULL,
		.loser = lost,
		.loser_resource = loser_source,
		.same = text_equal(kept, lost),
		.dropped = winner == NULL,
	};
	grant_add_conflict(merge->out, &conflict);
}

void grant_merge_add(struct grant_merge *merge, enum grant_kind kind, struct grant_entry entry)
{
	const struct grant_list *list = &merge->out->lists[kind];
	size_t place = 0;
	if (!text_index_get(&merge->entries[kind], entry.name, &place)) {
		entry.resource = merge->source;
		grant_add(merge->out, kind, &entry);
		/* The caller's string may live shorter than the index. */
		(void)text_index_put(&merge->entries[kind], list->items[list->count - 1].name,
				     list->count - 1);
		return;
	}

	struct grant_entry *winner = &list->items[place];
	bool map = kind == GRANT_ENV || kind == GRANT_ANNOTATION;
	if (!merge->replaces && (!map || winner->resource != merge->source)) {
		add_conflict(merge, kind, winner, &entry, merge->source);
		return;
	}

	const struct grant_entry loser = *winner;
	entry.name = loser.name;
	entry.resource = merge->source;
	*winner = entry;
	grant_keep(merge->out, &winner->value);
	grant_keep(merge->out, &winner->permissions);
	add_conflict(merge, kind, winner, &loser, loser.resource);
}

void grant_merge_drop(struct grant_merge *merge, enum grant_kind kind,
		      const struct grant_entry *entry)
{
	add_conflict(merge, kind, NULL, entry, merge->source);
}

void grant_merge_free(struct grant_merge *merge)
{
	for (size_t kind = 0; kind < GRANT_KINDS; kind++)
		text_index_free(&merge->entries[kind]);
}
