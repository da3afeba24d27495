/* SPDX-License-Identifier: MIT */
#pragma once

/* Shared by the parts of discovery on Linux while a snapshot is taken. */

#include "discovery/builder.h"
#include "discovery/linux/places.h"

struct node {
	const struct places *places;
	struct builder *builder;
	const char *kernel; /* its release: "6.1.0-37-amd64" */
	char *pci_names;    /* the text of pci.ids, once needed */
	bool pci_names_read;
	const struct kfd_node *kfd; /* once needed */
	size_t kfd_count;
	bool kfd_read;
};

/* A path of the node as this process finds it, below the root. The arena's; "" when memory ran out. */
const char *node_local(const struct node *node, const char *host_path);

/* The text of the node's pci.ids; NULL when it has none. */
const char *node_pci_names(struct node *node);

/* Adds `name` below /dev ("dri/renderD128") to the device. A required node that does not exist
 * makes the device unhealthy; a missing optional one is left out. */
enum node_need { NODE_REQUIRED, NODE_OPTIONAL };
void node_add_device_node(struct node *node, struct discovery_device *device, const char *name,
			  enum node_need need);

/* Adds the APIs that a matching user-mode driver in the image reaches through the device nodes of
 * device->driver_name. */
enum node_engines { NODE_ALL_ENGINES, NODE_COMPUTE_ONLY };
void node_add_apis(struct node *node, struct discovery_device *device, enum node_engines engines);

/* The part of an AMD GPU that has this render node, as the compute driver reports it (kfd.c). NULL: none. */
struct kfd_node;
const struct kfd_node *node_find_kfd(struct node *node, const char *render);

/* Number N of a name such as "renderD128" after `prefix`; -1 when the rest is not a number. */
int64_t node_number(const char *name, const char *prefix);

/* The devices of DRM render nodes, in /sys/class/drm. */
void drm_discover(struct node *node);

/* GPUs of the NVIDIA driver, in /proc/driver/nvidia: joined with their DRM node by PCI address. */
void nvidia_discover(struct node *node);

/* The user-mode drivers of the devices found so far, by their ICD manifests. */
void user_mode_discover(struct node *node);

/* Software drivers, by their ICD manifests. */
void software_discover(struct node *node);

/* Fills builder->system and node->kernel. */
void system_describe(struct node *node);
