/* SPDX-License-Identifier: MIT */
/* Where the mounts of an answer come from and where they end on a Windows node. */
#include "base/windows_path.h"
#include "conformance/checks/granted.h"
#include "conformance/checks/windows.h"

#include <strings.h>

static bool windows_is_target(const char *path)
{
	return windows_path_is_in(path, WINDOWS_SYSTEM32) ||
	       windows_path_is_in(path, WINDOWS_SYSWOW64);
}

static void mount_targets(struct rig *rig, const char *id,
			  const V1beta1__ContainerAllocateResponse *response, void *user)
{
	size_t *seen = user;

	(void)id;
	*seen += response->n_mounts;
	for (size_t i = 0; i < response->n_mounts; i++) {
		const char *target = response->mounts[i]->container_path;
		bool again = false;

		(void)check_expect(rig->run, windows_is_target(target), "mounts[].container_path",
				   "a file in System32 or SysWOW64", "%s", target);
		(void)check_expect(rig->run, response->mounts[i]->read_only, "mounts[].read_only",
				   "true", "%s: %s", target,
				   response->mounts[i]->read_only ? "true" : "false");
		for (size_t j = 0; j < i; j++)
			again = again ||
				strcasecmp(response->mounts[j]->container_path, target) == 0;
		(void)check_expect(rig->run, !again, "mounts[].container_path",
				   "used once, whatever the case", "%s", target);
	}
}

static void windows_each_mount(struct check_run *run,
			       void (*judge)(struct rig *rig, const char *id,
					     const V1beta1__ContainerAllocateResponse *response,
					     void *user))
{
	size_t seen = 0;

	windows_each_answer(run, judge, &seen);
	if (seen == 0)
		check_not_applicable(run, "the answers hold no mounts");
}

void windows_mount_targets(struct check_run *run)
{
	windows_each_mount(run, mount_targets);
}

/* Is the path in the driver store folder of a device that the answer grants? A node that does not
 * tell a device's folder leaves nothing to compare with. */
static bool windows_is_source(const struct rig *rig,
			      const V1beta1__ContainerAllocateResponse *response, const char *path)
{
	const struct discovery_snapshot *node = rig->context->node;

	for (size_t i = 0; i < node->device_count; i++) {
		const struct discovery_device *device = &node->devices[i];
		bool granted = false;

		for (size_t j = 0; j < response->n_devices; j++)
			granted = granted ||
				  granted_by_string(response->devices[j]->host_path, device);
		if (granted && (device->driver_store_path[0] == '\0' ||
				windows_path_is_within(path, device->driver_store_path)))
			return true;
	}
	return false;
}

static void mount_sources(struct rig *rig, const char *id,
			  const V1beta1__ContainerAllocateResponse *response, void *user)
{
	size_t *seen = user;

	(void)id;
	*seen += response->n_mounts;
	for (size_t i = 0; i < response->n_mounts; i++) {
		const char *source = response->mounts[i]->host_path;

		(void)check_expect(rig->run,
				   windows_path_is_absolute(source) &&
					   windows_is_source(rig, response, source),
				   "mounts[].host_path",
				   "a file below the driver store folder of the device", "%s",
				   source);
	}
}

void windows_mount_sources(struct check_run *run)
{
	windows_each_mount(run, mount_sources);
}
