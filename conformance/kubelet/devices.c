/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/devices.h"

#include <stdlib.h>
#include <string.h>

bool kubelet_device_is_healthy(const struct kubelet_device *device)
{
	return strcmp(device->health, "Healthy") == 0;
}

const struct kubelet_device *kubelet_device_find(const struct kubelet_device_list *list,
						 const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].id, id) == 0)
			return &list->items[i];
	return NULL;
}

static bool device_read(const V1beta1__Device *from, struct kubelet_device *to)
{
	size_t nodes = from->topology == NULL ? 0 : from->topology->n_nodes;
	to->id = strdup(from->id);
	to->health = strdup(from->health);
	to->numa = calloc(nodes + 1, sizeof(*to->numa));
	to->has_topology = from->topology != NULL;
	if (to->id == NULL || to->health == NULL || to->numa == NULL)
		return false;
	for (; to->numa_count < nodes; to->numa_count++)
		to->numa[to->numa_count] = from->topology->nodes[to->numa_count]->id;
	return true;
}

int kubelet_device_list_read(const V1beta1__ListAndWatchResponse *message,
			     struct kubelet_device_list *out, struct error *err)
{
	size_t count = message->n_devices;
	struct kubelet_device_list list = {.items = calloc(count + 1, sizeof(*list.items)),
					   .users = calloc(1, sizeof(*list.users))};
	bool good = list.items != NULL && list.users != NULL;
	for (; good && list.count < count; list.count++)
		good = device_read(message->devices[list.count], &list.items[list.count]);
	if (!good) {
		kubelet_device_list_free(&list);
		return error_memory(err);
	}
	*list.users = 1;
	*out = list;
	return 0;
}

struct kubelet_device_list kubelet_device_list_share(const struct kubelet_device_list *list)
{
	++*list->users;
	return *list;
}

void kubelet_device_list_free(struct kubelet_device_list *list)
{
	const struct kubelet_device_list gone = *list;
	*list = (struct kubelet_device_list){0};
	if (gone.users != NULL && *gone.users > 1) {
		--*gone.users;
		return;
	}
	for (size_t i = 0; i < gone.count; i++) {
		free(gone.items[i].id);
		free(gone.items[i].health);
		free(gone.items[i].numa);
	}
	free(gone.items);
	free(gone.users);
}
