/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/id_set.h"

#include <stdlib.h>
#include <string.h>

/* The place of `id`, or the place where it belongs. */
static size_t id_place(const struct id_set *set, const char *id, bool *found)
{
	size_t low = 0;
	size_t high = set->count;
	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(set->items[middle], id);
		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool id_set_has(const struct id_set *set, const char *id)
{
	bool found = false;
	(void)id_place(set, id, &found);
	return found;
}

static int id_set_reserve(struct id_set *set, size_t capacity, struct error *err)
{
	if (capacity <= set->capacity)
		return 0;
	size_t grown = set->capacity * 2 > capacity ? set->capacity * 2 : capacity;
	char **items = realloc(set->items, grown * sizeof(*items));
	if (items == NULL)
		return error_memory(err);
	set->items = items;
	set->capacity = grown;
	return 0;
}

int id_set_add(struct id_set *set, const char *id, struct error *err)
{
	bool found = false;
	size_t place = id_place(set, id, &found);
	if (found)
		return 0;
	int rc = id_set_reserve(set, set->count + 1, err);
	if (rc != 0)
		return rc;
	char *copy = strdup(id);
	if (copy == NULL)
		return error_memory(err);
	memmove(&set->items[place + 1], &set->items[place],
		(set->count - place) * sizeof(*set->items));
	set->items[place] = copy;
	set->count++;
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts and drops duplicates after strings were put behind the sorted part. */
static void id_set_settle(struct id_set *set)
{
	if (set->count == 0)
		return;
	qsort(set->items, set->count, sizeof(*set->items), compare_ids);
	size_t kept = 1;
	for (size_t i = 1; i < set->count; i++) {
		if (strcmp(set->items[i], set->items[kept - 1]) == 0)
			free(set->items[i]);
		else
			set->items[kept++] = set->items[i];
	}
	set->count = kept;
}

int id_set_add_strings(struct id_set *set, const char *const *ids, size_t count, struct error *err)
{
	int rc = id_set_reserve(set, set->count + count, err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		char *copy = strdup(ids[i]);
		if (copy == NULL)
			rc = error_memory(err);
		else
			set->items[set->count++] = copy;
	}
	id_set_settle(set);
	return rc;
}

int id_set_add_all(struct id_set *set, const struct id_set *from, struct error *err)
{
	return id_set_add_strings(set, (const char *const *)from->items, from->count, err);
}

void id_set_remove(struct id_set *set, const char *id)
{
	bool found = false;
	size_t place = id_place(set, id, &found);
	if (!found)
		return;
	free(set->items[place]);
	set->count--;
	memmove(&set->items[place], &set->items[place + 1],
		(set->count - place) * sizeof(*set->items));
}

void id_set_remove_all(struct id_set *set, const struct id_set *ids)
{
	size_t kept = 0;
	for (size_t i = 0; i < set->count; i++) {
		if (id_set_has(ids, set->items[i]))
			free(set->items[i]);
		else
			set->items[kept++] = set->items[i];
	}
	set->count = kept;
}

int id_set_add_common(struct id_set *set, const struct id_set *a, const struct id_set *b,
		      struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < a->count; i++)
		if (id_set_has(b, a->items[i]))
			rc = id_set_add(set, a->items[i], err);
	return rc;
}

bool id_set_contains(const struct id_set *set, const struct id_set *subset)
{
	for (size_t i = 0; i < subset->count; i++)
		if (!id_set_has(set, subset->items[i]))
			return false;
	return true;
}

const char **id_set_shuffled(const struct id_set *set, struct random *random)
{
	if (set->count == 0)
		return NULL;
	const char **order = calloc(set->count, sizeof(*order));
	if (order == NULL)
		return NULL;
	for (size_t i = 0; i < set->count; i++)
		order[i] = set->items[i];
	random_shuffle(random, order, set->count);
	return order;
}

void id_set_clear(struct id_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->items[i]);
	free(set->items);
	*set = (struct id_set){0};
}

void id_set_free(struct id_set *set)
{
	id_set_clear(set);
}
