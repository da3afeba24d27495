/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/library_version.h"
#include "discovery/linux/manifest.h"
#include "discovery/linux/runtime_files.h"

#include <string.h>

/*
 * Software drivers, told from drivers of hardware by the file name of their library. The version is
 * what follows `marker` in the library, else the version in its file name, else that of the API in
 * the manifest.
 */
struct software_driver {
	const char *library; /* pattern of text_glob() */
	const char *name;    /* device id and driver name */
	const char *vendor, *description;
	const char *marker; /* NULL: none */
	bool display;
	/* What it needs beyond its library; NULL: nothing. */
	int (*add_more)(struct runtime *runtime, const char *library, struct error *err);
	/* The library that tells its version, by the host path of its own; NULL: its own. */
	int (*find_version)(const struct places *places, const char *library, char **out,
			    struct error *err);
};

static const struct software_driver vulkan_drivers[] = {
	{"libvulkan_lvp.so*", "lavapipe", "Mesa", "llvmpipe (Mesa lavapipe)", "Mesa ", true, NULL,
	 NULL},
	{"libvk_swiftshader.so*", "swiftshader", "Google", "SwiftShader", NULL, true, NULL, NULL},
};

static const struct software_driver opencl_drivers[] = {
	{"libpocl.so*", "pocl", "PoCL", "Portable Computing Language on the processor", "PoCL ",
	 false, runtime_add_pocl, NULL},
	{"libintelocl.so*", "intel-cpu", "Intel", "Intel CPU Runtime for OpenCL", NULL, false, NULL,
	 NULL},
	{"liboclgrind-rt-icd.so*", "oclgrind", "Oclgrind", "Oclgrind simulator", "Oclgrind ", false,
	 NULL, NULL},
};

/* The library serves hardware as well; without its device nodes it is a software driver. */
static const struct software_driver egl_drivers[] = {
	{"libEGL_mesa.so*", "llvmpipe", "Mesa", "llvmpipe (Mesa EGL)", "Mesa ", true,
	 runtime_add_mesa, mesa_find_renderer},
};

/* An installed driver, as its manifest describes it. */
struct installed {
	const struct software_driver *driver;
	const char *api;
	const char *manifest; /* host path */
	const char *library;  /* host path */
	const char *api_version;
};

static const struct software_driver *find_driver(const struct software_driver *drivers,
						 size_t count, const char *library)
{
	for (size_t i = 0; i < count; i++) {
		if (text_glob(drivers[i].library, path_base(library)))
			return &drivers[i];
	}
	return NULL;
}

/* Is the library offered already? The loader, too, loads a library once that two manifests name. */
static bool is_known(const struct node *node, const char *source)
{
	for (size_t i = 0; i < node->builder->device_count; i++) {
		const struct discovery_device *device = node->builder->devices[i];
		for (size_t k = 0; k < device->file_count; k++) {
			if (text_equal(device->files[k].origin, "driver-library") &&
			    text_equal(device->files[k].source, source))
				return true;
		}
	}
	return false;
}

static const char *version(struct node *node, const struct installed *installed, const char *source)
{
	const struct software_driver *driver = installed->driver;
	char *telling CLEANUP_FREE = NULL;
	if (driver->find_version == NULL ||
	    driver->find_version(node->places, source, &telling, NULL) < 0)
		telling = strdup(source);
	char *path CLEANUP_FREE = telling != NULL ? places_local(node->places, telling) : NULL;
	char version[LIBRARY_VERSION_SIZE] = "";
	const char *in_name = library_version_of_name(source);
	if (installed->driver->marker != NULL && path != NULL)
		library_version_scan(path, installed->driver->marker, version);
	if (version[0] != '\0')
		return builder_string(node->builder, version);
	return builder_string(node->builder, in_name[0] != '\0' ? in_name : installed->api_version);
}

static void add_environment(struct node *node, struct discovery_device *device,
			    const struct installed *installed)
{
	struct builder *builder = node->builder;
	char *directory CLEANUP_FREE = path_directory(installed->manifest);
	if (text_equal(installed->api, "opengl"))
		return; /* the loader finds the manifest where it lies */
	if (text_equal(installed->api, "vulkan")) {
		builder_add_variable(builder, device, "VK_DRIVER_FILES", installed->manifest);
		/* Loaders before 1.3.207 know the old name only. */
		builder_add_variable(builder, device, "VK_ICD_FILENAMES", installed->manifest);
		return;
	}
	if (directory == NULL)
		builder->arena.failed = true;
	else
		builder_add_variable(builder, device, "OCL_ICD_VENDORS", directory);
	if (text_equal(installed->driver->name, "pocl"))
		builder_add_variable(builder, device, "POCL_CACHE_DIR", "/tmp/pocl-cache");
}

static void describe(struct node *node, struct discovery_device *device,
		     const struct installed *installed, const char *source)
{
	device->kind = DISCOVERY_SOFTWARE;
	device->vendor = installed->driver->vendor;
	device->description = installed->driver->description;
	device->driver_name = installed->driver->name;
	device->driver_version = version(node, installed, source);
	device->display = installed->driver->display;
	device->compute = true;
	builder_add_name(node->builder, &device->apis, installed->api);
	add_environment(node, device, installed);
}

static int add_files(struct runtime *runtime, const struct installed *installed, struct error *err)
{
	int rc = runtime_add_path(runtime, installed->manifest, false, "manifest", err);
	if (rc == 0)
		rc = runtime_add_library(runtime, installed->library, "driver-library", err);
	if (rc == 0 && installed->driver->add_more != NULL)
		rc = installed->driver->add_more(runtime, installed->library, err);
	return rc;
}

/* Is the library for the machine that this program is made for? On systems with two word sizes each
 * has its manifest, and a container of this machine can load only one of them. What cannot be read
 * is reported when its needs are looked up. */
static bool fits(const struct node *node, const char *source)
{
	struct elf_info own CLEANUP(elf_info_free) = {0};
	struct elf_info library CLEANUP(elf_info_free) = {0};
	char *path CLEANUP_FREE = places_local(node->places, source);
	if (path == NULL || elf_read("/proc/self/exe", &own, NULL) < 0 ||
	    elf_read(path, &library, NULL) < 0)
		return true;
	return library.bits == own.bits && library.machine == own.machine;
}

static int add_device(struct node *node, const struct installed *installed,
		      struct elf_closure *closure, struct error *err)
{
	struct builder *builder = node->builder;
	char *source CLEANUP_FREE = NULL;
	int rc = file_resolve(node->places->root, installed->library, &source, err);
	if (rc < 0 || is_known(node, source) || !fits(node, source))
		return rc;
	const char *id = builder_new_id(builder, installed->driver->name);
	struct discovery_device *device = builder_add(builder);
	if (device == NULL)
		return error_memory(err);
	device->id = id;
	describe(node, device, installed, source);
	struct runtime runtime = {.node = node, .device = device, .closure = closure};
	rc = add_files(&runtime, installed, err);
	if (rc < 0) {
		device->health = DISCOVERY_UNHEALTHY;
		if (err->code == rc)
			device->health_reason = builder_string(builder, err->text);
	}
	return rc;
}

static int add(struct node *node, struct installed *installed, const char *name, struct error *err)
{
	struct elf_closure *closure CLEANUP(elf_closure_cleanup) =
		elf_closure_new(node->places->root, err);
	char *library CLEANUP_FREE = NULL;
	int rc = closure == NULL
			 ? err->code
			 : manifest_find_library(closure, installed->manifest, name, &library, err);
	if (rc < 0)
		return rc;
	installed->library = library;
	return add_device(node, installed, closure, err);
}

static int read_vulkan(struct node *node, const char *manifest, const char *data, size_t size,
		       struct error *err)
{
	struct vulkan_icd icd CLEANUP_VULKAN_ICD = {0};
	struct installed installed = {.api = "vulkan", .manifest = manifest};
	int rc = vulkan_icd_parse(data, size, &icd, err);
	if (rc < 0)
		return rc;
	installed.driver =
		find_driver(vulkan_drivers, ARRAY_SIZE(vulkan_drivers), icd.library_path);
	installed.api_version = icd.api_version;
	return installed.driver == NULL ? 0 : add(node, &installed, icd.library_path, err);
}

/* A manifest of libglvnd has the form of Vulkan's. */
static int read_egl(struct node *node, const char *manifest, const char *data, size_t size,
		    struct error *err)
{
	struct vulkan_icd icd CLEANUP_VULKAN_ICD = {0};
	struct installed installed = {.api = "opengl", .manifest = manifest, .api_version = ""};
	int rc = vulkan_icd_parse(data, size, &icd, err);
	if (rc < 0)
		return rc;
	installed.driver = find_driver(egl_drivers, ARRAY_SIZE(egl_drivers), icd.library_path);
	return installed.driver == NULL ? 0 : add(node, &installed, icd.library_path, err);
}

static int read_opencl(struct node *node, const char *manifest, const char *data, size_t size,
		       struct error *err)
{
	char *library CLEANUP_FREE = NULL;
	struct installed installed = {.api = "opencl", .manifest = manifest, .api_version = ""};
	int rc = opencl_icd_parse(data, size, &library, err);
	if (rc < 0)
		return rc;
	installed.driver = find_driver(opencl_drivers, ARRAY_SIZE(opencl_drivers), library);
	return installed.driver == NULL ? 0 : add(node, &installed, library, err);
}

void software_discover(struct node *node)
{
	const struct text_list *vulkan = &node->places->vulkan_icd_directories;
	const struct text_list *egl = &node->places->egl_vendor_directories;
	for (size_t i = 0; i < vulkan->count; i++)
		manifest_read_directory(node, vulkan->items[i], ".json", read_vulkan);
	for (size_t i = 0; i < egl->count; i++)
		manifest_read_directory(node, egl->items[i], ".json", read_egl);
	manifest_read_directory(node, node->places->opencl_vendors, ".icd", read_opencl);
}
