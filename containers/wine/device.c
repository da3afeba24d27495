/* SPDX-License-Identifier: MIT */
#include "containers/wine/device.h"

#include "base/cleanup.h"
#include "base/elf.h"
#include "base/path.h"

#include <gpucert/discovery.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct wine_device wine_devices[WINE_DEVICE_COUNT] = {
	{
		.location_path = "PCIROOT(0)#PCI(0100)",
		.other_location_path = "ACPI(_SB_)#ACPI(PCI0)#PCI(0100)",
		.luid = 0x1001,
		.vulkan_manifest = "/usr/share/vulkan/icd.d/gpucert-0.json",
		.opencl_manifest = "/etc/OpenCL/vendors/gpucert-0.icd",
	},
	{
		.location_path = "PCIROOT(0)#PCI(0200)",
		.other_location_path = "ACPI(_SB_)#ACPI(PCI0)#PCI(0200)",
		.luid = 0x1002,
		.vulkan_manifest = "/usr/share/vulkan/icd.d/gpucert-1.json",
		.opencl_manifest = "/etc/OpenCL/vendors/gpucert-1.icd",
	},
};

const struct wine_device *wine_device_at(const char *location_path)
{
	for (size_t i = 0; i < WINE_DEVICE_COUNT; i++) {
		if (strcasecmp(wine_devices[i].location_path, location_path) == 0)
			return &wine_devices[i];
	}
	return NULL;
}

/* Libraries that libGL and the display server open for software rendering. */
static const char *const opengl_libraries[] = {
	"/usr/lib/x86_64-linux-gnu/libGLX_mesa.so.0",
	"/usr/lib/x86_64-linux-gnu/libEGL_mesa.so.0",
	"/usr/lib/x86_64-linux-gnu/dri/swrast_dri.so",
};

/* Left out, so that loaders search where their distributions do: only the files decide which drivers
 * are present. */
static const char *const loader_variables[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES",
					       "OCL_ICD_VENDORS", NULL};

static bool has(const struct grant_list *list, const char *key)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i].name, key) == 0)
			return true;
	}
	return false;
}

static void add_mount(struct grant *drivers, const char *source, const char *destination)
{
	const struct grant_entry mount = {
		.container_path = destination, .host_path = source, .read_only = true};
	if (!has(&drivers->mounts, destination))
		grant_add(drivers, GRANT_MOUNT, &mount);
}

/* Adds the files of one software device of the root; its manifest gets the name of the Wine node's
 * device. */
static int add_software(const struct wine_node *node, const struct discovery_snapshot *snapshot,
			const char *id, const char *manifest, struct grant *drivers,
			struct error *err)
{
	const struct discovery_device *device = discovery_find(snapshot, id);
	if (device == NULL)
		return error_set(err, ERROR_NOT_FOUND, "%s: has no %s", node->root, id);
	for (size_t i = 0; i < device->file_count; i++) {
		const struct discovery_file *file = &device->files[i];
		char *source CLEANUP_FREE = path_join(node->root, file->source);
		add_mount(drivers, source,
			  strcmp(file->origin, "manifest") == 0 ? manifest : file->destination);
	}
	for (size_t i = 0; i < device->variable_count; i++) {
		const struct discovery_variable *variable = &device->environment[i];
		const struct grant_entry env = {.name = variable->name, .value = variable->value};
		if (loader_variables[text_position(loader_variables, variable->name)] == NULL &&
		    !has(&drivers->envs, variable->name))
			grant_add(drivers, GRANT_ENV, &env);
	}
	return 0;
}

int wine_drivers_add(const struct wine_node *node, const struct wine_device *device,
		     struct grant *drivers, struct error *err)
{
	const struct discovery_options options = {.root = node->root};
	struct discovery_snapshot *snapshot = NULL;
	struct elf_closure *closure CLEANUP(elf_closure_cleanup) = NULL;
	int rc = discovery_take(&options, &snapshot, err);
	if (rc == 0)
		rc = add_software(node, snapshot, "lavapipe", device->vulkan_manifest, drivers,
				  err);
	if (rc == 0)
		rc = add_software(node, snapshot, "pocl", device->opencl_manifest, drivers, err);
	discovery_free(snapshot);

	if (rc == 0)
		rc = elf_closure_new(node->root, &closure, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(opengl_libraries); i++)
		rc = elf_closure_add(closure, opengl_libraries[i], err);
	for (size_t i = 0; rc == 0 && i < closure->file_count; i++)
		add_mount(drivers, closure->files[i].source, closure->files[i].destination);
	return rc < 0 ? error_wrap(err, rc, "drivers of %s", device->location_path) : 0;
}
