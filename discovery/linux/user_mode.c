/* SPDX-License-Identifier: MIT */
/* The user-mode drivers that the node has installed for a GPU. Their version differs from that of the kernel's
 * driver, except with NVIDIA, whose two halves must have the same version. Mesa's go into containers: they
 * work only with the render node, which decides which GPU a container has. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/filter.h"
#include "discovery/linux/library_version.h"
#include "discovery/linux/manifest.h"
#include "discovery/linux/runtime_files.h"

struct user_mode {
	const char *library;	/* pattern of text_glob() */
	const char *kernels[3]; /* kernel drivers that it works with, NULL-ended */
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

/* An installed driver, as its manifest describes it. */
struct installed {
	const char *api;
	const char *manifest;
	char *library; /* on the node */
};

/* Files of an incomplete driver are not taken: the image of the container may have a driver. */
static bool take_files(struct node *node, struct discovery_device *device,
		       const struct installed *installed)
{
	const struct discovery_device before = *device;
	struct error err = {0};
	struct elf_closure *closure CLEANUP(elf_closure_cleanup) = NULL;

	if (!filter_offers(device, installed->api))
		return true;
	int rc = elf_closure_new(node->places->root, &closure, &err);
	struct runtime runtime = {.node = node, .device = device, .closure = closure};
	if (rc == 0)
		rc = runtime_add_path(&runtime, installed->manifest, false, "manifest", &err);
	if (rc == 0)
		rc = runtime_add_library(&runtime, installed->library, "driver-library", &err);
	if (rc == 0 && text_equal(installed->api, "opengl"))
		rc = runtime_add_mesa(&runtime, installed->library, &err);
	if (rc < 0)
		builder_diagnose(node->builder, installed->manifest, "%s", err.text);
	if (rc < 0 || device->health != before.health) {
		*device = before;
		return false;
	}
	if (text_equal(installed->api, "vulkan"))
		runtime_add_vulkan_variables(&runtime, installed->manifest);
	return true;
}

/* The driver that the device uses and whose library has this name; NULL: none. Mesa's EGL is one driver for all of its
 * GPUs. */
static const struct user_mode *find_driver(const struct discovery_device *device, const char *api,
					   const char *library)
{
	for (size_t i = 0; i < ARRAY_SIZE(user_modes) && device->kind != DISCOVERY_SOFTWARE; i++) {
		const struct user_mode *driver = &user_modes[i];
		const char *kernel =
			driver->kernels[text_position(driver->kernels, device->driver_name)];
		const char *wanted =
			text_equal(api, "opengl") ? "libEGL_mesa.so*" : driver->library;
		if (kernel != NULL && text_glob(wanted, library))
			return driver;
	}
	return NULL;
}

static int read_manifest(struct node *node, const char *manifest, const char *data, size_t size,
			 const void *user, struct error *err)
{
	struct builder *builder = node->builder;
	struct vulkan_icd icd CLEANUP_VULKAN_ICD = {0};
	struct installed installed = {.api = user, .manifest = manifest};
	const char *version = NULL; /* read once for all devices: it takes the whole library */
	bool needed = false, complete = true;

	/* Software drivers come later, and that search reports broken manifests. */
	if (vulkan_icd_parse(data, size, &icd, err) < 0)
		return 0;
	const char *name = path_base(icd.library_path);
	for (size_t i = 0; i < builder->device_count; i++)
		needed |= find_driver(builder->devices[i], installed.api, name) != NULL;
	struct elf_closure *closure CLEANUP(elf_closure_cleanup) = NULL;
	char *library CLEANUP_FREE = NULL;
	if (!needed || elf_closure_new(node->places->root, &closure, err) < 0 ||
	    manifest_find_library(closure, manifest, icd.library_path, &library, err) < 0)
		return 0;
	installed.library = library;
	char *real CLEANUP_FREE = NULL; /* without links: the last one names the version */
	if (file_resolve(node->places->root, library, &real, NULL) < 0 ||
	    !runtime_is_loadable(node, real))
		return 0;

	for (size_t i = 0; i < builder->device_count; i++) {
		struct discovery_device *device = builder->devices[i];
		const struct user_mode *driver = find_driver(device, installed.api, name);
		if (driver == NULL)
			continue;
		if (text_equal(installed.api, "vulkan") && device->user_mode_driver[0] == '\0') {
			char scanned[LIBRARY_VERSION_SIZE] = "";
			if (version == NULL && driver->marker != NULL)
				library_version_scan(node_local(node, real), driver->marker,
						     scanned);
			if (version == NULL)
				version = builder_string(builder,
							 driver->marker != NULL
								 ? scanned
								 : library_version_of_name(real));
			if (version[0] != '\0')
				device->user_mode_driver = arena_format(&builder->arena, "%s %s",
									driver->name, version);
		}
		if (driver->marker != NULL && complete)
			complete = take_files(node, device, &installed);
	}
	return 0;
}

void user_mode_discover(struct node *node)
{
	const struct text_list *icds = &node->places->vulkan_icd_directories;
	const struct text_list *vendors = &node->places->egl_vendor_directories;

	for (size_t i = 0; node->builder->device_count != 0 && i < icds->count; i++)
		manifest_read_directory(node, icds->items[i], ".json", read_manifest, "vulkan");
	for (size_t i = 0; node->builder->device_count != 0 && i < vendors->count; i++)
		manifest_read_directory(node, vendors->items[i], ".json", read_manifest, "opengl");
}
