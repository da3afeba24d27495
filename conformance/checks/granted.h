/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Which devices of the node a container was granted. This is read from the answer's content and not
 * from ids, so that it holds for any vendor's plugin. On Windows a device is granted when a device
 * string names its location path or its class; mounts without one hand out nothing.
 *
 * On Linux names do not count: a device is granted when the container gets one of the device's own
 * nodes, by major and minor number, or, for a device without nodes, one of the driver's files that
 * belong only to it: the same file by any path, a copy of it, or a folder with it or a copy of it.
 *
 * Replace CDI names by their edits first (checks/node_cdi.h). Only the container runtime can
 * interpret names without edits, variables and annotations, and a folder may hold the drivers of
 * several devices: such an answer cannot be read, and a probe in the container must report what it
 * sees (checks/visibility.h).
 */

#include "conformance/kubelet/pod.h"

#include <gpucert/discovery.h>

enum { GRANTED_DEVICES_MAX = 128 };

/* Goes through the devices of a node. */
#define node_each(device, node)                                                                    \
	for (const struct discovery_device *(device) = (node)->devices;                            \
	     (size_t)((device) - (node)->devices) < (node)->device_count; (device)++)

bool node_is_windows(const struct discovery_snapshot *node);

enum granted_source {
	GRANTED_READ,	 /* `devices` were granted */
	GRANTED_NOTHING, /* the answer is empty */
	GRANTED_UNKNOWN, /* the answer grants something, but no identifiable device */
	GRANTED_SEEN,	 /* the answer cannot be read: `devices` are those that a container saw */
};

struct granted {
	const struct discovery_device *devices[GRANTED_DEVICES_MAX];
	size_t count;
	enum granted_source source;
	bool needs_runtime; /* the answer holds something that a container runtime may act on */
};

/* Goes through the granted devices. */
#define granted_each(device, granted)                                                              \
	for (const struct discovery_device *const *device##_at = (granted)->devices,               \
						  *(device) = NULL;                                \
	     (size_t)(device##_at - (granted)->devices) < (granted)->count &&                      \
	     ((device) = *device##_at) != NULL;                                                    \
	     device##_at++)

/* The files that identify the node's devices, and the files that were read so far. */
struct granted_reader;

#define CLEANUP_GRANTED_READER __attribute__((cleanup(granted_reader_free)))

/* The node is borrowed. */
struct granted_reader *granted_reader_new(const struct discovery_snapshot *node);
void granted_reader_free(struct granted_reader **reader);

struct granted granted_read(struct granted_reader *reader, const struct grant *grant);

/* Does the grant hold something that a container runtime may act on, and so grant more? */
bool granted_needs_runtime(const struct discovery_snapshot *node, const struct grant *grant);

void granted_add(struct granted *granted, const struct discovery_device *device); /* once */
bool granted_has(const struct granted *granted, const struct discovery_device *device);

/*
 * Must a plugin that hands out `granted` hand out this device as well? A plugin serves all allocatable devices of a
 * driver if it serves one of them; software next to hardware is never required. list-and-watch.devices-present and
 * the checks api.* expect this of plugins other than the reference plugin.
 */
bool granted_requires(const struct discovery_snapshot *node, const struct granted *granted,
		      const struct discovery_device *device);

/* Could another resource of the plugin be the one for `device`? Plugins divide their devices by model, by kind and by
 * the profile of a partition. */
bool granted_may_be_elsewhere(const struct discovery_snapshot *node, const struct granted *granted,
			      const struct discovery_device *device);

/* Is it one of several devices at one PCI address: a part of a GPU? */
bool granted_is_partition(const struct discovery_snapshot *node,
			  const struct discovery_device *device);

/*
 * Adds the devices that an answer refers to by the driver's UUID (in the id, a variable, an annotation or the path of a mount) or, in
 * NVIDIA_VISIBLE_DEVICES, by index. Only a container runtime can hand them out, so these are the devices that the plugin lists, not
 * those that a container gets.
 */
void granted_read_names(const struct discovery_snapshot *node, const char *id,
			const struct grant *grant, struct granted *named);

/* Does the id hold the driver's UUID of the device? */
bool granted_is_named(const char *id, const struct discovery_device *device);

/* Adds "gpu-0, gpu-1": the ids of the granted devices. */
void granted_add_ids(const struct granted *granted, struct text *out);

/* How many of the granted devices offer the API. */
size_t granted_count(const struct granted *granted, const char *api);

/* Is the device among those that a Windows device string hands to a container? */
bool granted_by_string(const char *host_path, const struct discovery_device *device);
