/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "discovery/builder.h"
#include "discovery/members.h"

int recorded_parse(const char *data, size_t size, struct builder *builder, struct error *err)
{
	struct discovery_snapshot *snapshot = &builder->snapshot;
	cJSON *document CLEANUP_JSON = NULL;

	int rc = json_parse(data, size, &document, err);
	struct json_at root = json_root(document);
	if (rc == 0)
		rc = json_members_read(&root, discovery_snapshot_members, snapshot, &builder->arena,
				       err);
	for (size_t i = 0; rc == 0 && i < snapshot->device_count; i++) {
		for (size_t k = 0; k < i; k++) {
			if (text_equal(snapshot->devices[k].id, snapshot->devices[i].id))
				rc = error_set(err, ERROR_FORMAT,
					       "devices[%zu].id: another device has the id %s", i,
					       snapshot->devices[i].id);
		}
	}
	for (size_t i = 0; rc == 0 && i < snapshot->device_count; i++) {
		struct discovery_device *device = builder_add(builder);

		if (device == NULL)
			return error_memory(err);
		*device = snapshot->devices[i];
		/* A recording with a single location path has no list of them. */
		if (device->location_paths[0] == NULL && device->location_path[0] != '\0')
			builder_add_name(builder, &device->location_paths, device->location_path);
	}
	snapshot->device_count = 0;
	snapshot->recorded = true;
	return rc;
}

int recorded_read(const char *path, struct builder *builder, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;

	int rc = file_read(path, JSON_FILE_MAX, &data, &size, err);
	if (rc < 0)
		return rc;
	rc = recorded_parse(data, size, builder, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	return 0;
}

char *discovery_to_json(const struct discovery_snapshot *snapshot)
{
	static const char *const none[] = {NULL};
	struct discovery_snapshot written = *snapshot;
	struct discovery_device *devices CLEANUP_FREE =
		memory_allocate(snapshot->device_count + 1, sizeof(*devices));

	for (size_t i = 0; devices != NULL && i < snapshot->device_count; i++) {
		const char *const *paths = snapshot->devices[i].location_paths;

		devices[i] = snapshot->devices[i];
		/* The only path is written as locationPath. */
		if (paths[0] != NULL && paths[1] == NULL &&
		    text_equal(paths[0], devices[i].location_path))
			devices[i].location_paths = none;
	}
	written.devices = devices;
	cJSON *json CLEANUP_JSON =
		devices != NULL ? json_members_write(discovery_snapshot_members, &written) : NULL;
	return json_print(json);
}
