/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/devices.h"

#include "base/cleanup.h"

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

static void device_free(struct kubelet_device *device)
{
	free(device->id);
	free(device->health);
	free(device->numa);
}

static int device_set(struct kubelet_device *out, const char *id, const char *health,
		      size_t numa_count, struct error *err)
{
	out->id = strdup(id);
	out->health = strdup(health);
	out->numa = numa_count == 0 ? NULL : calloc(numa_count, sizeof(*out->numa));
	out->numa_count = numa_count;
	if (out->id == NULL || out->health == NULL || (numa_count > 0 && out->numa == NULL))
		return error_memory(err);
	return 0;
}

static int list_reserve(struct kubelet_device_list *list, size_t count, struct error *err)
{
	*list = (struct kubelet_device_list){0};
	if (count == 0)
		return 0;
	list->items = calloc(count, sizeof(*list->items));
	if (list->items == NULL)
		return error_memory(err);
	list->count = count;
	return 0;
}

int kubelet_device_list_read(const V1beta1__ListAndWatchResponse *message,
			     struct kubelet_device_list *out, struct error *err)
{
	struct kubelet_device_list list = {0};
	int rc = list_reserve(&list, message->n_devices, err);
	for (size_t i = 0; rc == 0 && i < list.count; i++) {
		const V1beta1__Device *from = message->devices[i];
		size_t nodes = from->topology == NULL ? 0 : from->topology->n_nodes;
		struct kubelet_device *to = &list.items[i];
		rc = device_set(to, from->id, from->health, nodes, err);
		to->has_topology = from->topology != NULL;
		for (size_t n = 0; rc == 0 && n < nodes; n++)
			to->numa[n] = from->topology->nodes[n]->id;
	}
	if (rc != 0) {
		kubelet_device_list_free(&list);
		return rc;
	}
	*out = list;
	return 0;
}

int kubelet_device_list_copy(const struct kubelet_device_list *from,
			     struct kubelet_device_list *out, struct error *err)
{
	struct kubelet_device_list list = {0};
	int rc = list_reserve(&list, from->count, err);
	for (size_t i = 0; rc == 0 && i < list.count; i++) {
		const struct kubelet_device *item = &from->items[i];
		struct kubelet_device *to = &list.items[i];
		rc = device_set(to, item->id, item->health, item->numa_count, err);
		to->has_topology = item->has_topology;
		if (rc == 0 && item->numa_count > 0)
			memcpy(to->numa, item->numa, item->numa_count * sizeof(*item->numa));
	}
	if (rc != 0) {
		kubelet_device_list_free(&list);
		return rc;
	}
	*out = list;
	return 0;
}

void kubelet_device_list_free(struct kubelet_device_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		device_free(&list->items[i]);
	free(list->items);
	*list = (struct kubelet_device_list){0};
}
