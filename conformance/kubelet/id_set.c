/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/id_set.h"

#include "base/memory.h"
#include "conformance/kubelet/each.h"

#include <stdlib.h>
#include <string.h>

void random_shuffle(struct random *random, void *pointers, size_t count)
{
	enum { SIZE = sizeof(void *) };
	for (size_t i = count; i > 1; i--) {
		random->state += UINT64_C(0x9e3779b97f4a7c15);
		uint64_t value = random->state;
		value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
		value ^= value >> 31;

		char *last = (char *)pointers + (i - 1) * SIZE;
		char *other = (char *)pointers + value % i * SIZE;
		char item[SIZE];
		memcpy(item, last, SIZE);
		memmove(last, other, SIZE);
		memcpy(other, item, SIZE);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool id_set_has(const struct id_set *set, const char *id)
{
	const struct text_list *list = &set->list;
	return list->count > 0 &&
	       bsearch(&id, list->items, list->count, sizeof(*list->items), compare) != NULL;
}

static void cut(struct text_list *list, size_t count)
{
	list->count = count;
	if (list->items != NULL)
		list->items[count] = NULL;
}

void id_set_add_strings(struct id_set *set, const char *const *ids, size_t count)
{
	struct text_list *list = &set->list;
	size_t kept = 0;
	items_each (id, ids, count)
		text_list_add(list, *id);
	text_list_sort(list);
	items_each (id, list->items, list->count) {
		if (kept > 0 && strcmp(*id, list->items[kept - 1]) == 0)
			free(*id);
		else
			list->items[kept++] = *id;
	}
	cut(list, kept);
}

void id_set_add(struct id_set *set, const struct id_set *from)
{
	id_set_add_strings(set, (const char *const *)from->list.items, from->list.count);
}

/* Removes the ids that are in `ids`, or all others. */
static void filter(struct id_set *set, const struct id_set *ids, bool removed)
{
	struct text_list *list = &set->list;
	size_t kept = 0;
	items_each (id, list->items, list->count) {
		if (id_set_has(ids, *id) == removed)
			free(*id);
		else
			list->items[kept++] = *id;
	}
	cut(list, kept);
}

void id_set_remove(struct id_set *set, const struct id_set *ids)
{
	filter(set, ids, true);
}

void id_set_keep(struct id_set *set, const struct id_set *ids)
{
	filter(set, ids, false);
}

bool id_set_contains(const struct id_set *set, const struct id_set *subset)
{
	text_each (id, &subset->list) {
		if (!id_set_has(set, id))
			return false;
	}
	return true;
}

const char **id_set_shuffled(const struct id_set *set, struct random *random)
{
	const char **order = memory_allocate(set->list.count + 1, sizeof(*order));
	for (size_t i = 0; i < set->list.count; i++)
		order[i] = set->list.items[i];
	random_shuffle(random, order, set->list.count);
	return order;
}

void id_set_clear(struct id_set *set)
{
	text_list_free(&set->list);
	*set = (struct id_set){0};
}
