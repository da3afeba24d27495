/* SPDX-License-Identifier: MIT */
#include "reference-plugin/additional_mounts.h"

#include "base/cleanup.h"
#include "base/path.h"

#include <string.h>
#include <strings.h>

enum { ADDITIONAL_MOUNTS_MAX = 256 };

/* Whole directories of a container's system: a mount on one of them replaces what the image brings.
 */
static const char *const system_directories[] = {
	"/",	      "/bin",	    "/boot",	  "/dev",      "/etc",	     "/home",
	"/lib",	      "/lib32",	    "/lib64",	  "/proc",     "/root",	     "/run",
	"/sbin",      "/sys",	    "/tmp",	  "/usr",      "/usr/bin",   "/usr/lib",
	"/usr/lib32", "/usr/lib64", "/usr/local", "/usr/sbin", "/usr/share", "/var",
};

static int check_path(const char *path, const char *what, struct error *err)
{
	CLEANUP_FREE char *normal = path_normalize(path);

	if (normal == NULL)
		return error_memory(err);
	if (!path_is_absolute(path) || strcmp(normal, path) != 0)
		return error_set(err, ERROR_FORMAT,
				 "%s '%s' is not an absolute path without '..', '.' and '//'", what,
				 path);
	return 0;
}

static int check_destination(const char *path, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(system_directories); i++) {
		if (strcmp(path, system_directories[i]) == 0)
			return error_set(err, ERROR_FORMAT,
					 "destination '%s' would replace a system directory of the "
					 "container",
					 path);
	}
	if (path_is_within(path, "/proc") || path_is_within(path, "/sys"))
		return error_set(err, ERROR_FORMAT, "destination '%s' lies in a kernel file system",
				 path);
	return 0;
}

static void mount_free(struct additional_mount *mount)
{
	free(mount->vendor);
	free(mount->source);
	free(mount->destination);
}

int additional_mounts_add(struct additional_mounts *mounts, const char *vendor, const char *source,
			  const char *destination, struct error *err)
{
	const char *target = destination != NULL ? destination : source;
	struct additional_mount *grown = NULL;
	struct additional_mount mount = {0};
	int result = check_path(source, "source", err);

	if (result == 0)
		result = check_path(target, "destination", err);
	if (result == 0)
		result = check_destination(target, err);
	if (result < 0)
		return result;
	if (mounts->count == ADDITIONAL_MOUNTS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d additional mounts",
				 (int)ADDITIONAL_MOUNTS_MAX);
	mount = (struct additional_mount){strdup(vendor), strdup(source), strdup(target)};
	grown = realloc(mounts->items, (mounts->count + 1) * sizeof(*grown));
	if (grown != NULL)
		mounts->items = grown;
	if (grown == NULL || mount.vendor == NULL || mount.source == NULL ||
	    mount.destination == NULL) {
		mount_free(&mount);
		return error_memory(err);
	}
	mounts->items[mounts->count++] = mount;
	return 0;
}

bool additional_mount_is_for(const struct additional_mount *mount, const char *vendor)
{
	return strcasecmp(mount->vendor, vendor) == 0;
}

void additional_mounts_free(struct additional_mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		mount_free(&mounts->items[i]);
	free(mounts->items);
	*mounts = (struct additional_mounts){0};
}
