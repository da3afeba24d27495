/* SPDX-License-Identifier: MIT */
#include "discovery/linux/places.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <string.h>

/*
 * The system-wide part of the search path of the Vulkan loader (LoaderDriverInterface.md of
 * KhronosGroup/Vulkan-Loader): configuration directories, then data directories. The per-user
 * directories are left out: a driver in a user's home is not the node's, and a loader that runs
 * with elevated privileges does not look there either.
 */
static const char *const vulkan_fixed[] = {
	"/etc/xdg/vulkan/icd.d",	 "/usr/local/etc/vulkan/icd.d", "/etc/vulkan/icd.d",
	"/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d",	NULL,
};

/* The search path of libglvnd (its documentation of EGL's ICD enumeration). */
static const char *const egl_fixed[] = {
	"/etc/glvnd/egl_vendor.d",
	"/usr/share/glvnd/egl_vendor.d",
	NULL,
};

char *places_local(const struct places *places, const char *host_path)
{
	return text_format("%s%s%s", places->root, host_path[0] == '/' ? "" : "/", host_path);
}

const char *places_host(const struct places *places, const char *local_path)
{
	size_t size = strlen(places->root);

	if (strncmp(local_path, places->root, size) == 0 && local_path[size] == '/')
		return local_path + size;
	return local_path;
}

bool places_exist(const struct places *places, const char *host_path)
{
	char *local CLEANUP_FREE = places_local(places, host_path);

	return local != NULL && file_exists(local);
}

static int add_directory(const struct places *places, const char *host_path, struct text_list *list,
			 struct error *err)
{
	char *local CLEANUP_FREE = places_local(places, host_path);

	if (local == NULL)
		return error_memory(err);
	if (!text_list_has(list, local))
		text_list_add(list, local);
	return text_list_check(list, err);
}

/* The directories "vulkan/icd.d" below those of a variable like XDG_DATA_DIRS. */
static int add_variable(struct places *places, const char *variable, struct error *err)
{
	const char *value = secure_getenv(variable);
	struct text_list directories CLEANUP_TEXT_LIST = {0};

	if (value == NULL)
		return 0;
	text_list_split(&directories, value, ':');
	int rc = text_list_check(&directories, err);
	for (size_t i = 0; rc == 0 && i < directories.count; i++) {
		char *directory CLEANUP_FREE = path_join(directories.items[i], "vulkan/icd.d");
		char *normal CLEANUP_FREE = directory != NULL ? path_normalize(directory) : NULL;

		if (!path_is_absolute(directories.items[i]))
			continue;
		if (normal == NULL)
			return error_memory(err);
		rc = add_directory(places, normal, &places->vulkan_icd_directories, err);
	}
	return rc;
}

int places_open(const struct discovery_options *options, struct places *out, struct error *err)
{
	const char *const *vulkan = options->vulkan_icd_directories;
	const char *const *egl = options->egl_vendor_directories;
	int rc = 0;

	out->root = path_normalize(options->root != NULL ? options->root : "/");
	if (out->root == NULL)
		return error_memory(err);
	if (text_equal(out->root, "/"))
		out->root[0] = '\0';
	out->sysfs = places_local(out, options->sysfs != NULL ? options->sysfs : "/sys");
	out->proc = places_local(out, options->proc != NULL ? options->proc : "/proc");
	out->dev = places_local(out, options->dev != NULL ? options->dev : "/dev");
	out->opencl_vendors =
		places_local(out, options->opencl_vendors != NULL ? options->opencl_vendors
								  : "/etc/OpenCL/vendors");
	if (out->sysfs == NULL || out->proc == NULL || out->dev == NULL ||
	    out->opencl_vendors == NULL)
		return error_memory(err);

	/* The environment applies to this process's root, not to another tree. */
	if (vulkan == NULL && options->root == NULL) {
		rc = add_variable(out, "XDG_CONFIG_DIRS", err);
		if (rc == 0)
			rc = add_variable(out, "XDG_DATA_DIRS", err);
	}
	if (vulkan == NULL)
		vulkan = vulkan_fixed;
	for (size_t i = 0; rc == 0 && vulkan[i] != NULL; i++)
		rc = add_directory(out, vulkan[i], &out->vulkan_icd_directories, err);
	if (egl == NULL)
		egl = egl_fixed;
	for (size_t i = 0; rc == 0 && egl[i] != NULL; i++)
		rc = add_directory(out, egl[i], &out->egl_vendor_directories, err);
	return rc;
}

void places_close(struct places *places)
{
	free(places->root);
	free(places->sysfs);
	free(places->proc);
	free(places->dev);
	free(places->opencl_vendors);
	text_list_free(&places->vulkan_icd_directories);
	text_list_free(&places->egl_vendor_directories);
	*places = (struct places){0};
}
