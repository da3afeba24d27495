/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/library_version.h"
#include "discovery/linux/manifest.h"
#include "discovery/linux/runtime_files.h"

/*
 * Software drivers, recognised by the file name of their library. The version is what follows `marker`
 * in the library, else the version in its file name, else that of the API in the manifest.
 */
struct software_driver {
	const char *library; /* pattern of text_glob() */
	const char *name;    /* device id and driver name */
	const char *vendor, *description;
	const char *marker; /* NULL: none */
	bool display;
	/* Adds what it needs in addition to its library. May be NULL. */
	int (*add_more)(struct runtime *runtime, const char *library, struct error *err);
	/* Finds the library that holds the version, by the host path of the driver's own. NULL: its own. */
	int (*find_version)(struct node *node, const char *library, const char **out,
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

/* The library is also for hardware; without device nodes it is a software driver. */
static const struct software_driver egl_drivers[] = {
	{"libEGL_mesa.so*", "llvmpipe", "Mesa", "llvmpipe (Mesa EGL)", "Mesa ", true,
	 runtime_add_mesa, mesa_find_renderer},
};

/* An API, and the drivers whose manifests this file knows. Manifests of EGL, which libglvnd reads, have
 * the form of Vulkan's. */
static const struct api {
	const char *name;
	const struct software_driver *drivers;
	size_t count;
	bool opencl; /* the form of its manifests */
} vulkan = {"vulkan", vulkan_drivers, ARRAY_SIZE(vulkan_drivers), false},
  egl = {"opengl", egl_drivers, ARRAY_SIZE(egl_drivers), false},
  opencl = {"opencl", opencl_drivers, ARRAY_SIZE(opencl_drivers), true};

/* An installed driver, as its manifest describes it. */
struct installed {
	const struct software_driver *driver;
	const char *api;
	const char *manifest; /* host path */
	const char *library;  /* host path */
	const char *api_version;
};

/* Is the library offered already? Loaders, too, load a library once although two manifests name
 * it. */
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
	const char *holder = source; /* the library that holds the version */

	if (driver->find_version != NULL)
		(void)driver->find_version(node, source, &holder, NULL);
	char version[LIBRARY_VERSION_SIZE] = "";
	const char *in_name = library_version_of_name(source);
	if (driver->marker != NULL)
		library_version_scan(node_local(node, holder), driver->marker, version);
	if (version[0] != '\0')
		return builder_string(node->builder, version);
	return builder_string(node->builder, in_name[0] != '\0' ? in_name : installed->api_version);
}

static int add_device(struct node *node, const struct installed *installed,
		      struct elf_closure *closure, struct error *err)
{
	const struct software_driver *driver = installed->driver;
	struct builder *builder = node->builder;
	char *source CLEANUP_FREE = NULL;
	int rc = file_resolve(node->places->root, installed->library, &source, err);
	if (rc < 0 || is_known(node, source))
		return rc;

	if (!runtime_is_loadable(node, source))
		return 0;
	const char *id = builder_new_id(builder, driver->name);
	struct discovery_device *device = builder_add(builder);
	if (device == NULL)
		return error_memory(err);
	device->id = id;
	device->kind = DISCOVERY_SOFTWARE;
	device->vendor = driver->vendor;
	device->description = driver->description;
	device->driver_name = driver->name;
	device->driver_version = version(node, installed, source);
	device->display = driver->display;
	device->compute = true;
	builder_add_name(builder, &device->apis, installed->api);

	struct runtime runtime = {.node = node, .device = device, .closure = closure};
	/* Variables that make loaders find the manifest; libglvnd finds those of OpenGL at their places. */
	if (text_equal(installed->api, "vulkan")) {
		runtime_add_vulkan_variables(&runtime, installed->manifest);
	} else if (text_equal(installed->api, "opencl")) {
		char *directory CLEANUP_FREE = path_directory(installed->manifest);
		builder_add_variable(builder, device, "OCL_ICD_VENDORS", directory);
		if (text_equal(driver->name, "pocl"))
			builder_add_variable(builder, device, "POCL_CACHE_DIR", "/tmp/pocl-cache");
	}

	rc = runtime_add_path(&runtime, installed->manifest, false, "manifest", err);
	if (rc == 0)
		rc = runtime_add_library(&runtime, installed->library, "driver-library", err);
	if (rc == 0 && driver->add_more != NULL)
		rc = driver->add_more(&runtime, installed->library, err);
	if (rc < 0) {
		device->health = DISCOVERY_UNHEALTHY;
		if (err->code == rc)
			device->health_reason = builder_string(builder, err->text);
	}
	return rc;
}

/* Adds the device of a manifest that names a library of one of the API's drivers. */
static int read_manifest(struct node *node, const char *manifest, const char *data, size_t size,
			 const void *user, struct error *err)
{
	const struct api *api = user;
	struct vulkan_icd icd CLEANUP_VULKAN_ICD = {0};
	int rc = api->opencl ? opencl_icd_parse(data, size, &icd.library_path, err)
			     : vulkan_icd_parse(data, size, &icd, err);
	if (rc < 0)
		return rc;

	struct installed installed = {.api = api->name, .manifest = manifest, .api_version = ""};
	if (api == &vulkan)
		installed.api_version = icd.api_version;
	for (size_t i = 0; i < api->count && installed.driver == NULL; i++) {
		if (text_glob(api->drivers[i].library, path_base(icd.library_path)))
			installed.driver = &api->drivers[i];
	}
	if (installed.driver == NULL)
		return 0;

	struct elf_closure *closure CLEANUP(elf_closure_cleanup) = NULL;
	char *library CLEANUP_FREE = NULL;
	rc = elf_closure_new(node->places->root, &closure, err);
	if (rc == 0)
		rc = manifest_find_library(closure, manifest, icd.library_path, &library, err);
	if (rc < 0)
		return rc;
	installed.library = library;
	return add_device(node, &installed, closure, err);
}

void software_discover(struct node *node)
{
	const struct text_list *icds = &node->places->vulkan_icd_directories;
	const struct text_list *vendors = &node->places->egl_vendor_directories;

	text_each (folder, icds)
		manifest_read_directory(node, folder, ".json", read_manifest, &vulkan);
	text_each (folder, vendors)
		manifest_read_directory(node, folder, ".json", read_manifest, &egl);
	manifest_read_directory(node, node->places->opencl_vendors, ".icd", read_manifest, &opencl);
}
