/* SPDX-License-Identifier: MIT */
/* The Vulkan driver that the node has installed for a GPU. Its version is not that of the kernel's
 * driver, but for NVIDIA, whose two halves must be of one version. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/library_version.h"
#include "discovery/linux/manifest.h"

#include <string.h>

struct user_mode {
	const char *library;	/* pattern of text_glob() */
	const char *kernels[3]; /* drivers of the kernel that it works with */
	const char *name;
	const char *marker; /* what its version follows in the library; NULL: in the file name */
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

static const struct user_mode *find_driver(const char *library)
{
	for (size_t i = 0; i < ARRAY_SIZE(user_modes); i++) {
		if (text_glob(user_modes[i].library, path_base(library)))
			return &user_modes[i];
	}
	return NULL;
}

/* Where the library lies, through its links: the last one names the version. */
static int locate(struct node *node, const char *manifest, const char *name, char **out,
		  struct error *err)
{
	struct elf_closure *closure CLEANUP(elf_closure_cleanup) =
		elf_closure_new(node->places->root, err);
	char *library CLEANUP_FREE = NULL;
	int rc = closure == NULL ? err->code
				 : manifest_find_library(closure, manifest, name, &library, err);
	return rc < 0 ? rc : file_resolve(node->places->root, library, out, err);
}

static void tell(struct node *node, const struct user_mode *driver, const char *library)
{
	char *path CLEANUP_FREE = places_local(node->places, library);
	char version[LIBRARY_VERSION_SIZE] = "";
	const char *told = version;
	if (driver->marker == NULL)
		told = library_version_of_name(library);
	else if (path != NULL)
		library_version_scan(path, driver->marker, version);
	if (told[0] == '\0')
		return;
	for (size_t i = 0; i < node->builder->device_count; i++) {
		struct discovery_device *device = node->builder->devices[i];
		if (serves(driver, device))
			device->user_mode_driver =
				arena_format(&node->builder->arena, "%s %s", driver->name, told);
	}
}

static int read_manifest(struct node *node, const char *manifest, const char *data, size_t size,
			 struct error *err)
{
	struct vulkan_icd icd CLEANUP_VULKAN_ICD = {0};
	char *library CLEANUP_FREE = NULL;
	bool wanted = false;
	int rc = vulkan_icd_parse(data, size, &icd, err);
	/* What is wrong with a manifest is told where software drivers are looked for. */
	const struct user_mode *driver = rc == 0 ? find_driver(icd.library_path) : NULL;
	for (size_t i = 0; driver != NULL && i < node->builder->device_count; i++)
		wanted = wanted || serves(driver, node->builder->devices[i]);
	if (wanted && locate(node, manifest, icd.library_path, &library, err) == 0)
		tell(node, driver, library);
	return 0;
}

void user_mode_discover(struct node *node)
{
	const struct text_list *directories = &node->places->vulkan_icd_directories;
	for (size_t i = 0; node->builder->device_count != 0 && i < directories->count; i++)
		manifest_read_directory(node, directories->items[i], ".json", read_manifest);
}
