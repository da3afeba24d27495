/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "base/text.h"
#include "discovery/builder.h"
#include "discovery/members.h"

#include <stdlib.h>

int discovery_take(const struct discovery_options *options, struct discovery_snapshot **out,
		   struct error *err)
{
	static const struct discovery_options live = {0};
	struct builder builder CLEANUP_BUILDER = {0};
	const unsigned failures = memory_failures();
	int rc = 0;

	if (options == NULL)
		options = &live;
	if (options->recorded_node != NULL)
		rc = recorded_read(options->recorded_node, &builder, err);
	else
		rc = node_discover(options, &builder, err);
	/* A device without what memory was lacking for would look like a broken one. */
	if (memory_failures() != failures)
		return error_memory(err);
	return rc == 0 ? builder_finish(&builder, &options->filter, out, err) : rc;
}

const struct discovery_device *discovery_find(const struct discovery_snapshot *snapshot,
					      const char *id)
{
	for (size_t i = 0; i < snapshot->device_count; i++) {
		if (text_equal(snapshot->devices[i].id, id))
			return &snapshot->devices[i];
	}
	return NULL;
}

const char *discovery_kind_name(enum discovery_kind kind)
{
	return discovery_kind_names[kind];
}

const char *discovery_health_name(enum discovery_health health)
{
	return discovery_health_names[health];
}

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

const char *discovery_version(void)
{
	return GPUCERT_VERSION;
}

void discovery_string_free(char *string)
{
	free(string);
}
