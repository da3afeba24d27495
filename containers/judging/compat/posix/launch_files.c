/* SPDX-License-Identifier: MIT */
/* The driver files and device nodes that a launch is granted. */
#include "base/cleanup.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/judging/compat/case.h"

#include <string.h>

#define EGL_MANIFESTS "*/egl_vendor.d/*.json"

enum { MANIFEST_MAX = 64 * 1024, CLOSURE_MAX = 512 };

/* The files of an API on Linux: the library that programs open, which is its loader or the driver itself; the
 * loader's driver, by its manifest or by its name; and the device node that every driver needs. */
static const struct api_files {
	const char *api;
	const char *library;   /* a glob; NULL: programs do not open one by name */
	const char *driver;    /* a glob of its file; NULL: named by manifests */
	const char *manifest;  /* a glob of their paths */
	const char *component; /* of manifests and drivers in an image (contents.h) */
	const char *vendor, *node;
} api_files[] = {
	{"vulkan", "libvulkan.so*", NULL, "*.json", "vulkan", NULL, NULL},
	{"vulkanvideo", "libvulkan.so*", NULL, "*.json", "vulkan", NULL, NULL},
	{"opencl", "libOpenCL.so*", NULL, "*.icd", "opencl", NULL, NULL},
	{"opengl", "libEGL.so*", NULL, EGL_MANIFESTS, "egl", NULL, NULL},
	{"levelzero", "libze_loader.so*", "libze_intel_gpu.so*", NULL, "level-zero-intel", NULL,
	 NULL},
	{"cuda", "libcuda.so*", "libcuda.so*", NULL, "cuda", "nvidia", "/dev/nvidiactl"},
	{"nvml", "libnvidia-ml.so*", "libnvidia-ml.so*", NULL, "nvml", "nvidia", "/dev/nvidiactl"},
	{"nvenc", "libnvidia-encode.so*", "libnvidia-encode.so*", NULL, "nvenc", "nvidia",
	 "/dev/nvidiactl"},
	{"hip", "libamdhip64.so*", "libamdhip64.so*", NULL, "hip", "amd", "/dev/kfd"},
	{"vaapi", NULL, "*_drv_video.so", NULL, "va-driver", NULL, NULL},
};

static const struct api_files *files_of(const struct compat_launch *launch)
{
	for (size_t i = 0; i < ARRAY_SIZE(api_files); i++) {
		if (text_equal(api_files[i].api, launch->api))
			return &api_files[i];
	}
	return NULL;
}

static const struct grant_entry *find_mount(const struct compat_launch *launch, const char *glob)
{
	if (launch->grant == NULL)
		return NULL;
	grant_each (entry, &launch->grant->mounts) {
		if (text_glob(glob, path_base(entry->container_path)))
			return entry;
	}
	return NULL;
}

bool launch_mounts(const struct compat_launch *launch, const char *glob)
{
	return find_mount(launch, glob) != NULL;
}

/* May the container have more files than those of the grant? */
static bool may_hold_more(const struct compat_launch *launch)
{
	if (launch->grant == NULL)
		return false;
	grant_each (entry, &launch->grant->mounts) {
		if (file_is_directory(entry->host_path))
			return true;
	}
	return launch->needs_runtime;
}

/* The library that a manifest names, of OpenCL (a line of text) or Vulkan and EGL (JSON). NULL: it is not
 * a manifest. Caller frees. */
static char *read_manifest(const struct grant_entry *mount)
{
	char *text CLEANUP_FREE = NULL;
	size_t size = 0;
	cJSON *json CLEANUP_JSON = NULL;
	if (file_read(mount->host_path, MANIFEST_MAX, &text, &size, NULL) < 0)
		return NULL;
	const char *name = text;
	if (!text_ends_with(mount->container_path, ".icd")) {
		if (json_parse(text, size, &json, NULL) < 0)
			return NULL;
		name = json_pointer_string(json, "/ICD/library_path");
	}
	return name != NULL ? memory_copy_start(name, strcspn(name, "\r\n")) : NULL;
}

/* The newest glibc that the driver, and the libraries of the grant that it needs, require. NULL: the driver
 * is not among the mounts, or cannot be read, or requires none. The arena's. */
static const char *glibc_of(const struct compat_launch *launch, const char *driver,
			    struct arena *arena)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	const char *glibc = NULL;
	if (find_mount(launch, driver) == NULL)
		return NULL;
	text_list_add(&names, driver);
	for (size_t done = 0; done < names.count && done < CLOSURE_MAX; done++) {
		const struct grant_entry *mount = find_mount(launch, names.items[done]);
		if (mount == NULL)
			continue;
		struct elf_info info CLEANUP(elf_info_free) = {0};
		if (elf_read(mount->host_path, &info, NULL) < 0)
			return NULL;
		text_each (name, &info.needed) {
			if (!text_list_has(&names, name))
				text_list_add(&names, name);
		}
		if (info.glibc != NULL && (glibc == NULL || version_compare(info.glibc, glibc) > 0))
			glibc = arena_string(arena, info.glibc);
	}
	return glibc;
}

const char *launch_driver_glibc(const struct compat_launch *launch,
				const struct image_contents *contents, struct arena *arena)
{
	const struct api_files *files = files_of(launch);
	if (files == NULL || launch->grant == NULL || contents == NULL || may_hold_more(launch) ||
	    launch_mounts(launch, "libc.so.6"))
		return "";
	for (size_t i = 0; i < contents->library_count; i++) {
		const struct contents_library *library = &contents->libraries[i];
		if (text_equal(library->component, files->component) &&
		    (library->kind == CONTENTS_ICD_MANIFEST || files->manifest == NULL))
			return ""; /* the image has a driver of its own */
	}
	if (files->manifest == NULL) {
		const struct grant_entry *mount = find_mount(launch, files->driver);
		const char *glibc =
			mount != NULL ? glibc_of(launch, path_base(mount->container_path), arena)
				      : NULL;
		return glibc != NULL ? glibc : "";
	}

	/* One of several drivers is enough: the lowest need counts, and none if that of one is unknown. */
	const bool egl = text_equal(files->manifest, EGL_MANIFESTS);
	const char *least = "";
	grant_each (entry, &launch->grant->mounts) {
		if (!text_glob(files->manifest, entry->container_path) ||
		    (!egl && text_glob(EGL_MANIFESTS, entry->container_path)))
			continue;
		char *library CLEANUP_FREE = read_manifest(entry);
		if (library == NULL)
			continue;
		const char *glibc = glibc_of(launch, path_base(library), arena);
		if (glibc == NULL)
			return "";
		if (least[0] == '\0' || version_compare(glibc, least) < 0)
			least = glibc;
	}
	return least;
}

/* The answer hands out device nodes and leaves the driver to the image, as many plugins do. */
static bool leaves_driver_to_image(const struct compat_launch *launch)
{
	return launch->grant != NULL && launch->grant->devices.count != 0 &&
	       !may_hold_more(launch) && !grant_brings_library(launch->grant);
}

void rule_image_driver(struct compat_case *it)
{
	const struct api_files *files = it->launch != NULL ? files_of(it->launch) : NULL;
	if (files != NULL && files->library != NULL && it->contents != NULL &&
	    leaves_driver_to_image(it->launch) && case_library(it, files->library) == NULL)
		compat_find(it, COMPAT_CANNOT_WORK,
			    "%s needs %s, which the image lacks, and the answer hands out device "
			    "nodes only: name an image that has it with --image",
			    it->launch->api, files->library);
}

void rule_driver_library(struct compat_case *it)
{
	const struct api_files *files = it->launch != NULL ? files_of(it->launch) : NULL;
	if (files == NULL || files->library == NULL || it->contents == NULL)
		return;
	const struct contents_library *library = case_library(it, files->library);
	const struct grant_entry *mount = find_mount(it->launch, files->library);
	if (library != NULL || mount != NULL)
		compat_find(it, COMPAT_WORKS, "%s has %s: %s", it->launch->api, files->library,
			    library != NULL ? library->path : mount->container_path);
	else if (!leaves_driver_to_image(it->launch))
		compat_find(it, may_hold_more(it->launch) ? COMPAT_UNKNOWN : COMPAT_CANNOT_WORK,
			    "%s needs %s, which is neither in the image nor among the files that "
			    "the container is given",
			    it->launch->api, files->library);
}

void rule_device_node(struct compat_case *it)
{
	const struct compat_launch *launch = it->launch;
	if (launch == NULL || launch->grant == NULL)
		return;
	const struct api_files *files = files_of(launch);
	const char *node = launch->node;
	if (node == NULL && files != NULL && files->node != NULL && case_has_gpu(it, files->vendor))
		node = files->node;
	if (node == NULL)
		return;
	grant_each (entry, &launch->grant->devices) {
		bool whole = strchr(entry->permissions, 'r') != NULL &&
			     strchr(entry->permissions, 'w') != NULL;
		if (!text_equal(entry->container_path, node) &&
		    !text_equal(entry->container_path, "/dev/dxg"))
			continue;
		compat_find(it, case_verdict(true, whole), "%s is opened, and given with '%s'",
			    entry->container_path, entry->permissions);
		return;
	}
	compat_find(it, launch->needs_runtime ? COMPAT_UNKNOWN : COMPAT_CANNOT_WORK,
		    "%s is opened, and not given to the container: EPERM", node);
}
