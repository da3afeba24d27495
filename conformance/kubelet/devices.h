/* SPDX-License-Identifier: MIT */
#pragma once

/* Devices exactly as a plugin's message lists them, with nothing corrected. */

#include "base/text.h"
#include "conformance/kubelet/each.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kubelet_device {
	char *id;
	char *health;
	bool has_topology; /* a TopologyInfo was sent, possibly without nodes */
	int64_t *numa;	   /* node ids in the order of the message */
	size_t numa_count;
};

/* In the order of the message; an id that was sent twice is listed twice. */
struct kubelet_device_list {
	struct kubelet_device *items;
	size_t count;
	size_t *users; /* copies of this structure; the last one that is freed frees the items */
};

/* Goes through the devices of a list; through none when the list is NULL. */
#define listed_each(device, list)                                                                  \
	for (const struct kubelet_device *(device) = (list) != NULL ? (list)->items : NULL;        \
	     (device) != NULL && (size_t)((device) - (list)->items) < (list)->count; (device)++)

/* Exactly "Healthy"; every other string counts as unhealthy (manager.go, kubelet v1.36.2). NULL is not. */
bool kubelet_device_is_healthy(const struct kubelet_device *device);

/* "Healthy" or "Unhealthy"; "gone" for NULL. */
const char *kubelet_device_state(const struct kubelet_device *device);

/* The first device with this id; NULL when there is none, also in the list NULL. */
const struct kubelet_device *kubelet_device_find(const struct kubelet_device_list *list,
						 const char *id);

struct kubelet_device_list kubelet_device_list_read(const V1beta1__ListAndWatchResponse *message);
struct kubelet_device_list kubelet_device_list_share(const struct kubelet_device_list *list);
void kubelet_device_list_free(struct kubelet_device_list *list);
