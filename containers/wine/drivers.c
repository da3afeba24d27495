/* SPDX-License-Identifier: MIT */
#include "containers/wine/drivers.h"

#include "base/cleanup.h"
#include "base/elf.h"
#include "base/path.h"

#include <gpucert/discovery.h>
#include <stdlib.h>
#include <string.h>

#define CLEANUP_CLOSURE CLEANUP(elf_closure_cleanup)

/* What libGL and the display server open for software rendering. */
static const char *const opengl_libraries[] = {
	"/usr/lib/x86_64-linux-gnu/libGLX_mesa.so.0",
	"/usr/lib/x86_64-linux-gnu/libEGL_mesa.so.0",
	"/usr/lib/x86_64-linux-gnu/dri/swrast_dri.so",
};

/* Loaders look where their distributions look: which driver there is shall depend on the files
 * alone. */
static const char *const loader_variables[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES",
					       "OCL_ICD_VENDORS"};

void wine_drivers_free(struct wine_drivers *drivers)
{
	for (size_t i = 0; i < drivers->count; i++) {
		free(drivers->mounts[i].source);
		free(drivers->mounts[i].destination);
	}
	free(drivers->mounts);
	text_list_free(&drivers->environment);
	*drivers = (struct wine_drivers){0};
}

static bool drivers_has(const struct wine_drivers *drivers, const char *destination)
{
	for (size_t i = 0; i < drivers->count; i++) {
		if (strcmp(drivers->mounts[i].destination, destination) == 0)
			return true;
	}
	return false;
}

static int drivers_add_mount(struct wine_drivers *drivers, const char *source,
			     const char *destination, struct error *err)
{
	struct wine_driver_mount mount = {0};

	if (drivers_has(drivers, destination))
		return 0;
	if (drivers->count == drivers->capacity) {
		size_t capacity = drivers->capacity > 0 ? 2 * drivers->capacity : 128;
		struct wine_driver_mount *grown =
			reallocarray(drivers->mounts, capacity, sizeof(*grown));

		if (grown == NULL)
			return error_memory(err);
		drivers->mounts = grown;
		drivers->capacity = capacity;
	}
	mount.source = strdup(source);
	mount.destination = strdup(destination);
	if (mount.source == NULL || mount.destination == NULL) {
		free(mount.source);
		free(mount.destination);
		return error_memory(err);
	}
	drivers->mounts[drivers->count++] = mount;
	return 0;
}

static int drivers_add_variable(struct wine_drivers *drivers,
				const struct discovery_variable *variable, struct error *err)
{
	char *line CLEANUP_FREE = text_format("%s=%s", variable->name, variable->value);

	if (line == NULL)
		return error_memory(err);
	for (size_t i = 0; i < ARRAY_SIZE(loader_variables); i++) {
		if (strcmp(loader_variables[i], variable->name) == 0)
			return 0;
	}
	return text_list_has(&drivers->environment, line)
		       ? 0
		       : text_list_take(&drivers->environment, STEAL(line), err);
}

/* The files of one software device of the root; its manifest under the name of the Wine node's
 * device. */
static int drivers_add_software(const struct wine_node *node,
				const struct discovery_snapshot *snapshot, const char *id,
				const char *manifest, struct wine_drivers *drivers,
				struct error *err)
{
	const struct discovery_device *device = discovery_find(snapshot, id);
	int rc = 0;

	if (device == NULL)
		return error_set(err, ERROR_NOT_FOUND, "%s: has no %s", node->root, id);
	for (size_t i = 0; rc == 0 && i < device->file_count; i++) {
		const struct discovery_file *file = &device->files[i];
		char *source CLEANUP_FREE = path_join(node->root, file->source);

		if (source == NULL)
			return error_memory(err);
		rc = drivers_add_mount(
			drivers, source,
			strcmp(file->origin, "manifest") == 0 ? manifest : file->destination, err);
	}
	for (size_t i = 0; rc == 0 && i < device->variable_count; i++)
		rc = drivers_add_variable(drivers, &device->environment[i], err);
	return rc;
}

static int drivers_add_opengl(const struct wine_node *node, struct wine_drivers *drivers,
			      struct error *err)
{
	struct elf_closure *closure CLEANUP_CLOSURE = elf_closure_new(node->root, err);
	int rc = 0;

	if (closure == NULL)
		return err != NULL ? err->code : ERROR_MEMORY;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(opengl_libraries); i++)
		rc = elf_closure_add(closure, opengl_libraries[i], err);
	for (size_t i = 0; rc == 0 && i < closure->file_count; i++)
		rc = drivers_add_mount(drivers, closure->files[i].source,
				       closure->files[i].destination, err);
	return rc;
}

int wine_drivers_add(const struct wine_node *node, const struct wine_device *device,
		     struct wine_drivers *drivers, struct error *err)
{
	const struct discovery_options options = {.root = node->root};
	struct discovery_snapshot *snapshot = NULL;
	int rc = discovery_take(&options, &snapshot, err);

	rc = rc == 0 ? drivers_add_software(node, snapshot, "lavapipe", device->vulkan_manifest,
					    drivers, err)
		     : rc;
	rc = rc == 0 ? drivers_add_software(node, snapshot, "pocl", device->opencl_manifest,
					    drivers, err)
		     : rc;
	rc = rc == 0 ? drivers_add_opengl(node, drivers, err) : rc;
	discovery_free(snapshot);
	return rc < 0 ? error_wrap(err, rc, "drivers of %s", device->location_path) : 0;
}
