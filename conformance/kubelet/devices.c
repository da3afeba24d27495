/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/devices.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool kubelet_device_is_healthy(const struct kubelet_device *device)
{
	return device != NULL && strcmp(device->health, "Healthy") == 0;
}

const char *kubelet_device_state(const struct kubelet_device *device)
{
	return device == NULL			   ? "gone"
	       : kubelet_device_is_healthy(device) ? "Healthy"
						   : "Unhealthy";
}

const struct kubelet_device *kubelet_device_find(const struct kubelet_device_list *list,
						 const char *id)
{
	listed_each (device, list) {
		if (strcmp(device->id, id) == 0)
			return device;
	}
	return NULL;
}

struct kubelet_device_list kubelet_device_list_read(const V1beta1__ListAndWatchResponse *message)
{
	struct kubelet_device_list list = {
		.items = memory_allocate(message->n_devices + 1, sizeof(*list.items)),
		.count = message->n_devices,
		.users = memory_allocate(1, sizeof(*list.users)),
	};
	*list.users = 1;
	for (size_t i = 0; i < list.count; i++) {
		const V1beta1__Device *from = message->devices[i];
		struct kubelet_device *to = &list.items[i];
		to->id = memory_copy(from->id);
		to->health = memory_copy(from->health);
		to->has_topology = from->topology != NULL;
		to->numa_count = to->has_topology ? from->topology->n_nodes : 0;
		to->numa = memory_allocate(to->numa_count + 1, sizeof(*to->numa));
		for (size_t k = 0; k < to->numa_count; k++)
			to->numa[k] = from->topology->nodes[k]->id;
	}
	return list;
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
	items_each (device, gone.items, gone.count) {
		free(device->id);
		free(device->health);
		free(device->numa);
	}
	free(gone.items);
	free(gone.users);
}
