/* SPDX-License-Identifier: MIT */
/* What a launch is given of drivers: their files, and their device nodes. */
#include "base/cleanup.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/compat/case.h"

#include <string.h>

#define EGL_MANIFESTS "*/egl_vendor.d/*.json"

enum { MANIFEST_MAX = 64 * 1024, CLOSURE_MAX = 512 };

/* Of an API on Linux: what programs of the image open, which is its loader or the driver itself; the driver
 * behind a loader, by its manifest or by its name; and the node without which no driver works. */
static const struct api_files {
	const char *api;
	const char *library;   /* a glob; NULL: the image has it in another form */
	const char *driver;    /* a glob of its file; NULL: told by manifests */
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

/* May more be in the container than the files of the grant tell? */
static bool may_hold_more(const struct compat_launch *launch)
{
	if (launch->grant == NULL)
		return false;
	grant_each (entry, &launch->grant->mounts) {
		if (file_is_directory(entry->host_path))
			return true;
	}
	return launch->by_runtime;
}

/* The library that a manifest names, of OpenCL (a line of text) or Vulkan and EGL (JSON). False: it is not
 * a manifest. Caller frees *out. */
static bool read_manifest(const struct grant_entry *mount, char **out)
{
	char *text CLEANUP_FREE = NULL;
	size_t size = 0;
	cJSON *json CLEANUP_JSON = NULL;
	if (file_read(mount->host_path, MANIFEST_MAX, &text, &size, NULL) < 0)
		return false;
	const char *name = text;
	if (!text_ends_with(mount->container_path, ".icd"))
		name = json_parse(text, size, &json, NULL) == 0
			       ? json_pointer_string(json, "/ICD/library_path")
			       : NULL;
	*out = name != NULL ? strndup(name, strcspn(name, "\r\n")) : NULL;
	return *out != NULL;
}

/* The files of a grant that a driver needs one after the other. */
struct driver_closure {
	const struct compat_launch *launch;
	struct text_list names; /* base names; those behind `done` are to be read */
	size_t done;
	char *glibc; /* the newest that one asks for; NULL: none */
};

static void closure_free(struct driver_closure *closure)
{
	text_list_free(&closure->names);
	free(closure->glibc);
}

static int closure_read(struct driver_closure *closure, const struct grant_entry *mount)
{
	struct elf_info info CLEANUP(elf_info_free) = {0};
	int rc = elf_read(mount->host_path, &info, NULL);
	for (size_t i = 0; rc == 0 && i < info.needed.count; i++) {
		if (!text_list_has(&closure->names, info.needed.items[i]))
			rc = text_list_add(&closure->names, info.needed.items[i], NULL);
	}
	if (rc < 0 || info.glibc == NULL ||
	    (closure->glibc != NULL && version_compare(info.glibc, closure->glibc) <= 0))
		return rc;
	free(closure->glibc);
	closure->glibc = STEAL(info.glibc);
	return 0;
}

/* The glibc without which the driver cannot be loaded. NULL: it is not among the mounts, or cannot be read.
 * Caller frees. */
static char *glibc_of(const struct compat_launch *launch, const char *driver)
{
	struct driver_closure closure CLEANUP(closure_free) = {.launch = launch};
	if (find_mount(launch, driver) == NULL || text_list_add(&closure.names, driver, NULL) < 0)
		return NULL;
	for (; closure.done < closure.names.count && closure.done < CLOSURE_MAX; closure.done++) {
		const struct grant_entry *mount =
			find_mount(launch, closure.names.items[closure.done]);
		if (mount != NULL && closure_read(&closure, mount) < 0)
			return NULL;
	}
	return STEAL(closure.glibc);
}

/* The least that one of the drivers needs; one of which nothing is known may be the one that works. */
struct least {
	char *glibc;
	bool open;
};

static void least_add(struct least *least, char *glibc)
{
	if (glibc == NULL)
		least->open = true;
	if (glibc == NULL || (least->glibc != NULL && version_compare(glibc, least->glibc) >= 0)) {
		free(glibc);
		return;
	}
	free(least->glibc);
	least->glibc = glibc;
}

static void look_at_drivers(const struct compat_launch *launch, const struct api_files *files,
			    struct least *least)
{
	if (files->manifest == NULL) {
		const struct grant_entry *mount = find_mount(launch, files->driver);
		if (mount != NULL)
			least_add(least, glibc_of(launch, path_base(mount->container_path)));
		return;
	}
	grant_each (entry, &launch->grant->mounts) {
		char *library CLEANUP_FREE = NULL;
		if (text_glob(files->manifest, entry->container_path) &&
		    (text_equal(files->manifest, EGL_MANIFESTS) ||
		     !text_glob(EGL_MANIFESTS, entry->container_path)) &&
		    read_manifest(entry, &library))
			least_add(least, glibc_of(launch, path_base(library)));
	}
}

/* Has the image a driver of its own? */
static bool has_driver(const struct image_contents *contents, const struct api_files *files)
{
	for (size_t i = 0; i < contents->library_count; i++) {
		const struct contents_library *library = &contents->libraries[i];
		if (text_equal(library->component, files->component) &&
		    (library->kind == CONTENTS_ICD_MANIFEST || files->manifest == NULL))
			return true;
	}
	return false;
}

const char *launch_driver_glibc(const struct compat_launch *launch,
				const struct image_contents *contents, struct arena *arena)
{
	const struct api_files *files = files_of(launch);
	struct least least = {0};
	if (files == NULL || launch->grant == NULL || contents == NULL ||
	    has_driver(contents, files) || may_hold_more(launch) ||
	    launch_mounts(launch, "libc.so.6"))
		return "";
	look_at_drivers(launch, files, &least);
	char *glibc CLEANUP_FREE = least.glibc;
	return glibc != NULL && !least.open ? arena_string(arena, glibc) : "";
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

/* The node that the launch opens; NULL: it is not known of one. */
static const char *node_of(const struct compat_case *it)
{
	const struct api_files *files = files_of(it->launch);
	if (it->launch->node != NULL)
		return it->launch->node;
	return files != NULL && files->node != NULL && case_has_gpu(it, files->vendor) ? files->node
										       : NULL;
}

void rule_device_node(struct compat_case *it)
{
	const struct compat_launch *launch = it->launch;
	const char *node = launch != NULL ? node_of(it) : NULL;
	if (node == NULL || launch->grant == NULL)
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
	compat_find(it, launch->by_runtime ? COMPAT_UNKNOWN : COMPAT_CANNOT_WORK,
		    "%s is opened, and not given to the container: EPERM", node);
}
