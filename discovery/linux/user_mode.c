/* SPDX-License-Identifier: MIT */
/* The Vulkan driver that the node has installed for a GPU. Its version differs from that of the kernel's
 * driver, except with NVIDIA, whose two halves must have the same version. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/library_version.h"
#include "discovery/linux/manifest.h"

#include <string.h>

struct user_mode {
	const char *library;	/* pattern of text_glob() */
	const char *kernels[3]; /* kernel drivers that it works with */
	const char *name;
	const char *
		marker; /* the text before its version in the library; NULL: the file name has it */
};

static const struct user_mode user_modes[] = {
	{"libvulkan_radeon.so*", {"amdgpu"}, "Mesa", "Mesa "},
	{"libvulkan_intel.so*", {"i915", "xe"}, "Mesa", "Mesa "},
	{"libvulkan_intel_hasvk.so*", {"i915"}, "Mesa", "Mesa "},
	{"libvulkan_nouveau.so*", {"nouveau"}, "Mesa", "Mesa "},
	{"libvulkan_freedreno.so*", {"msm"}, "Mesa", "Mesa "},
	{"libvulkan_broadcom.so*", {"v3d"}, "Mesa", "Mesa "},
	{"libvulkan_panfrost.so*", {"panfrost", "panthor"}, "Mesa", "Mesa "},
	{"libvulkan_asahi.so*", {"asahi"}, "Mesa", "Mesa "},
	{"libvulkan_virtio.so*", {"virtio_gpu"}, "Mesa", "Mesa "},
	{"libGLX_nvidia.so*", {"nvidia"}, "NVIDIA", NULL},
};

static bool serves(const struct user_mode *driver, const struct discovery_device *device)
{
	if (device->kind == DISCOVERY_SOFTWARE || device->user_mode_driver[0] != '\0')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(driver->kernels); i++) {
		if (text_equal(driver->kernels[i], device->driver_name))
			return true;
	}
	return false;
}

static int read_manifest(struct node *node, const char *manifest, const char *data, size_t size,
			 const void *user, struct error *err)
{
	struct builder *builder = node->builder;
	struct vulkan_icd icd CLEANUP_VULKAN_ICD = {0};
	const struct user_mode *driver = NULL;
	bool needed = false;

	(void)user;
	/* Software drivers come later, and that search reports broken manifests. */
	if (vulkan_icd_parse(data, size, &icd, err) < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(user_modes) && driver == NULL; i++) {
		if (text_glob(user_modes[i].library, path_base(icd.library_path)))
			driver = &user_modes[i];
	}
	for (size_t i = 0; driver != NULL && i < builder->device_count; i++)
		needed = needed || serves(driver, builder->devices[i]);
	if (!needed)
		return 0;

	/* The links of the library are resolved, because the last one names the version. */
	struct elf_closure *closure CLEANUP(elf_closure_cleanup) =
		elf_closure_new(node->places->root, err);
	char *found CLEANUP_FREE = NULL;
	char *library CLEANUP_FREE = NULL;
	if (closure == NULL ||
	    manifest_find_library(closure, manifest, icd.library_path, &found, err) < 0 ||
	    file_resolve(node->places->root, found, &library, err) < 0)
		return 0;
	char *path CLEANUP_FREE = places_local(node->places, library);
	char scanned[LIBRARY_VERSION_SIZE] = "";
	const char *version = scanned;
	if (driver->marker == NULL)
		version = library_version_of_name(library);
	else if (path != NULL)
		library_version_scan(path, driver->marker, scanned);
	if (version[0] == '\0')
		return 0;
	for (size_t i = 0; i < builder->device_count; i++) {
		struct discovery_device *device = builder->devices[i];
		if (serves(driver, device))
			device->user_mode_driver =
				arena_format(&builder->arena, "%s %s", driver->name, version);
	}
	return 0;
}

void user_mode_discover(struct node *node)
{
	const struct text_list *directories = &node->places->vulkan_icd_directories;

	for (size_t i = 0; node->builder->device_count != 0 && i < directories->count; i++)
		manifest_read_directory(node, directories->items[i], ".json", read_manifest, NULL);
}
