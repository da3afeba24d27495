/* SPDX-License-Identifier: MIT */
#include "conformance/checks/grant.h"

#include "conformance/checks/device_string.h"

#include <string.h>

bool grant_device_offers(const struct discovery_device *device, const char *api)
{
	for (const char *const *offered = device->apis; offered != NULL && *offered != NULL;
	     offered++) {
		if (strcmp(*offered, api) == 0)
			return true;
	}
	return false;
}

static bool grant_device_has_node(const struct discovery_device *device, const char *path)
{
	for (size_t i = 0; i < device->node_count; i++) {
		if (strcmp(device->nodes[i].path, path) == 0)
			return true;
	}
	return false;
}

static bool grant_device_has_file(const struct discovery_device *device, const char *path)
{
	for (size_t i = 0; i < device->file_count; i++) {
		if (strcmp(device->files[i].source, path) == 0)
			return true;
	}
	return false;
}

/* Does another device of the node have the path too (/dev/nvidiactl, a shared library)? */
static bool grant_is_shared(const struct discovery_snapshot *node,
			    const struct discovery_device *device, const char *path,
			    bool (*has)(const struct discovery_device *device, const char *path))
{
	for (size_t i = 0; i < node->device_count; i++) {
		if (&node->devices[i] != device && has(&node->devices[i], path))
			return true;
	}
	return false;
}

static bool grant_has_own_node(const struct discovery_snapshot *node,
			       const struct discovery_device *device,
			       const struct kubelet_container_options *options)
{
	for (size_t i = 0; i < options->device_count; i++) {
		const char *path = options->devices[i].host_path;

		if (grant_device_has_node(device, path) &&
		    !grant_is_shared(node, device, path, grant_device_has_node))
			return true;
	}
	return false;
}

static bool grant_has_own_file(const struct discovery_snapshot *node,
			       const struct discovery_device *device,
			       const struct kubelet_container_options *options)
{
	for (size_t i = 0; i < options->mount_count; i++) {
		const char *path = options->mounts[i].host_path;

		if (grant_device_has_file(device, path) &&
		    !grant_is_shared(node, device, path, grant_device_has_file))
			return true;
	}
	return false;
}

static bool grant_has_device_string(const struct discovery_device *device,
				    const struct kubelet_container_options *options)
{
	for (size_t i = 0; i < options->device_count; i++) {
		if (device_string_grants(options->devices[i].host_path, device))
			return true;
	}
	return false;
}

static bool grant_has_device(const struct discovery_snapshot *node,
			     const struct discovery_device *device,
			     const struct kubelet_container_options *options)
{
	if (strcmp(node->system.os, "windows") == 0)
		return grant_has_device_string(device, options);
	return device->node_count != 0 ? grant_has_own_node(node, device, options)
				       : grant_has_own_file(node, device, options);
}

struct grant grant_read(const struct discovery_snapshot *node,
			const struct kubelet_container_options *options)
{
	struct grant grant = {0};

	for (size_t i = 0; i < node->device_count && grant.count < GRANT_DEVICES_MAX; i++) {
		const struct discovery_device *device = &node->devices[i];

		if (grant_has_device(node, device, options))
			grant.devices[grant.count++] = device;
	}
	return grant;
}

size_t grant_count(const struct grant *grant, const char *api)
{
	size_t count = 0;

	for (size_t i = 0; i < grant->count; i++)
		count += grant_device_offers(grant->devices[i], api) ? 1 : 0;
	return count;
}
