/* SPDX-License-Identifier: MIT */
#include "discovery/include/gpucert/discovery.h"
#include "discovery/members.h"

const char *discovery_change_name(enum discovery_change change)
{
	static const char *const names[] = {"added", "removed", "changed"};
	return names[change];
}

size_t discovery_changes(const struct discovery_snapshot *before,
			 const struct discovery_snapshot *after,
			 void (*each)(enum discovery_change change,
				      const struct discovery_device *device, void *user),
			 void *user)
{
	size_t count = 0;
	for (size_t i = 0; i < before->device_count; i++) {
		const struct discovery_device *device = &before->devices[i];
		if (discovery_find(after, device->id) == NULL) {
			each(DISCOVERY_REMOVED, device, user);
			count++;
		}
	}
	for (size_t i = 0; i < after->device_count; i++) {
		const struct discovery_device *device = &after->devices[i];
		const struct discovery_device *old = discovery_find(before, device->id);
		if (old != NULL && json_members_equal(discovery_device_members, old, device))
			continue;
		each(old != NULL ? DISCOVERY_CHANGED : DISCOVERY_ADDED, device, user);
		count++;
	}
	return count;
}
