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

char *places_local(const struct places *places, const char *host_path)
{
	return text_format("%s%s%s", places->root, host_path[0] == '/' ? "" : "/", host_path);
}

const char *places_host(const struct places *places, const char *local_path)
{
	size_t size = strlen(places->root);
	return strncmp(local_path, places->root, size) == 0 && local_path[size] == '/'
		       ? local_path + size
		       : local_path;
}

bool places_exist(const struct places *places, const char *host_path)
{
	char *local CLEANUP_FREE = places_local(places, host_path);
	return local != NULL && file_exists(local);
}

static int add_directory(struct places *places, const char *host_path, struct error *err)
{
	char *local CLEANUP_FREE = places_local(places, host_path);
	if (local == NULL)
		return error_memory(err);
	if (text_list_has(&places->vulkan_icd_directories, local))
		return 0;
	return text_list_add(&places->vulkan_icd_directories, local, err);
}

/* The directories "vulkan/icd.d" below those of a variable like XDG_DATA_DIRS. */
static int add_variable(struct places *places, const char *variable, struct error *err)
{
	const char *value = secure_getenv(variable);
	struct text_list directories CLEANUP_TEXT_LIST = {0};
	if (value == NULL)
		return 0;
	int rc = text_list_split(&directories, value, ':', err);
	for (size_t i = 0; rc == 0 && i < directories.count; i++) {
		char *directory CLEANUP_FREE = path_join(directories.items[i], "vulkan/icd.d");
		char *normal CLEANUP_FREE = directory != NULL ? path_normalize(directory) : NULL;
		if (!path_is_absolute(directories.items[i]))
			continue;
		if (normal == NULL)
			return error_memory(err);
		rc = add_directory(places, normal, err);
	}
	return rc;
}

static int add_vulkan(struct places *places, const struct discovery_options *options,
		      struct error *err)
{
	const char *const *directories = options->vulkan_icd_directories;
	int rc = 0;
	/* The environment speaks of this process's root, not of another tree. */
	if (directories == NULL && options->root == NULL) {
		rc = add_variable(places, "XDG_CONFIG_DIRS", err);
		if (rc == 0)
			rc = add_variable(places, "XDG_DATA_DIRS", err);
	}
	if (directories == NULL)
		directories = vulkan_fixed;
	for (size_t i = 0; rc == 0 && directories[i] != NULL; i++)
		rc = add_directory(places, directories[i], err);
	return rc;
}

int places_open(const struct discovery_options *options, struct places *out, struct error *err)
{
	struct places places CLEANUP_PLACES = {0};
	places.root = path_normalize(options->root != NULL ? options->root : "/");
	if (places.root == NULL)
		return error_memory(err);
	if (text_equal(places.root, "/"))
		places.root[0] = '\0';
	places.sysfs = places_local(&places, options->sysfs != NULL ? options->sysfs : "/sys");
	places.proc = places_local(&places, options->proc != NULL ? options->proc : "/proc");
	places.dev = places_local(&places, options->dev != NULL ? options->dev : "/dev");
	places.opencl_vendors =
		places_local(&places, options->opencl_vendors != NULL ? options->opencl_vendors
								      : "/etc/OpenCL/vendors");
	if (places.sysfs == NULL || places.proc == NULL || places.dev == NULL ||
	    places.opencl_vendors == NULL)
		return error_memory(err);
	int rc = add_vulkan(&places, options, err);
	if (rc < 0)
		return rc;
	*out = places;
	places = (struct places){0};
	return 0;
}

void places_close(struct places *places)
{
	free(places->root);
	free(places->sysfs);
	free(places->proc);
	free(places->dev);
	free(places->opencl_vendors);
	text_list_free(&places->vulkan_icd_directories);
	*places = (struct places){0};
}
