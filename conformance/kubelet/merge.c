/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/text_index.h"
#include "conformance/kubelet/pod.h"

#include <string.h>

struct merge {
	struct grant *out;
	bool windows;
	const char *resource; /* of the answer under way; kept by the grant */
	struct text_index entries[GRANT_KINDS];
	struct error *err;
};

/* What two entries of one key are compared by: "value", "/host/path (ro)". */
static char *describe(enum grant_kind kind, const struct grant_entry *entry)
{
	if (kind == GRANT_MOUNT)
		return text_format("%s (%s)", entry->host_path, entry->read_only ? "ro" : "rw");
	if (kind == GRANT_DEVICE)
		return text_format("%s (%s)", entry->host_path, entry->permissions);
	return strdup(kind == GRANT_CDI_DEVICE ? entry->name : entry->value);
}

/* `winner` NULL: the kubelet drops the entry. */
static int add_conflict(struct merge *merge, enum grant_kind kind, const struct grant_entry *winner,
			const struct grant_entry *loser)
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
					 .loser_resource = merge->resource,
					 .same = kept != NULL && strcmp(kept, lost) == 0,
					 .dropped = winner == NULL},
		merge->err);
}

static int add_entry(struct merge *merge, enum grant_kind kind, struct grant_entry entry)
{
	const struct grant_list *list = &merge->out->lists[kind];
	size_t place = list->count;
	if (kind == GRANT_CDI_DEVICE && merge->windows)
		return add_conflict(merge, kind, NULL, &entry);
	int rc = text_index_put(&merge->entries[kind], entry.name, list->count, &place, merge->err);
	if (rc != 0)
		return rc;
	if (place == list->count) {
		entry.resource = merge->resource;
		return grant_add(merge->out, kind, &entry, merge->err);
	}
	/* Variables and annotations are maps: within one answer protobuf-go hands out the last value
	 * of a key. */
	struct grant_entry *winner = &list->items[place];
	if ((kind == GRANT_ENV || kind == GRANT_ANNOTATION) &&
	    winner->resource == merge->resource) {
		const char *last = entry.value;
		entry.value = winner->value;
		winner->value = last;
		rc = grant_keep(merge->out, &winner->value, merge->err);
	}
	return rc == 0 ? add_conflict(merge, kind, winner, &entry) : rc;
}

static int add_answer(struct merge *merge, const struct kubelet_answer *answer)
{
	const V1beta1__ContainerAllocateResponse *response = answer->response;
	merge->resource = answer->resource;
	int rc = grant_keep(merge->out, &merge->resource, merge->err);
	for (size_t i = 0; rc == 0 && i < response->n_envs; i++)
		rc = add_entry(merge, GRANT_ENV,
			       (struct grant_entry){.name = response->envs[i]->key,
						    .value = response->envs[i]->value});
	for (size_t i = 0; rc == 0 && i < response->n_devices; i++)
		rc = add_entry(
			merge, GRANT_DEVICE,
			(struct grant_entry){.container_path = response->devices[i]->container_path,
					     .host_path = response->devices[i]->host_path,
					     .permissions = response->devices[i]->permissions});
	for (size_t i = 0; rc == 0 && i < response->n_mounts; i++)
		rc = add_entry(
			merge, GRANT_MOUNT,
			(struct grant_entry){.container_path = response->mounts[i]->container_path,
					     .host_path = response->mounts[i]->host_path,
					     .read_only = response->mounts[i]->read_only != 0});
	for (size_t i = 0; rc == 0 && i < response->n_annotations; i++)
		rc = add_entry(merge, GRANT_ANNOTATION,
			       (struct grant_entry){.name = response->annotations[i]->key,
						    .value = response->annotations[i]->value});
	for (size_t i = 0; rc == 0 && i < response->n_cdi_devices; i++)
		rc = add_entry(merge, GRANT_CDI_DEVICE,
			       (struct grant_entry){.name = response->cdi_devices[i]->name});
	return rc;
}

int kubelet_merge(bool windows, const struct kubelet_answer *answers, size_t count,
		  struct grant *out, struct error *err)
{
	struct grant grant CLEANUP_GRANT = {0};
	struct merge merge = {.out = &grant, .windows = windows, .err = err};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = add_answer(&merge, &answers[i]);
	for (size_t kind = 0; kind < GRANT_KINDS; kind++)
		text_index_free(&merge.entries[kind]);
	if (rc != 0)
		return rc;
	*out = grant;
	grant = (struct grant){0};
	return 0;
}
