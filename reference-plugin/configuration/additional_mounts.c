/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/additional_mounts.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/windows_path.h"

#include <string.h>

/* Whole directories of a container's system: a mount on one of them replaces what the image brings.
 */
static const char *const system_directories[] = {
	"/",	      "/bin",	    "/boot",	  "/dev",      "/etc",	     "/home",
	"/lib",	      "/lib32",	    "/lib64",	  "/proc",     "/root",	     "/run",
	"/sbin",      "/sys",	    "/tmp",	  "/usr",      "/usr/bin",   "/usr/lib",
	"/usr/lib32", "/usr/lib64", "/usr/local", "/usr/sbin", "/usr/share", "/var",
};

/* By the rules of the node's system, not of this one. */
static bool is_plain_absolute(const char *path)
{
	char *closed CLEANUP_FREE = text_format("%s/", path);
	return strcmp(path, "/") == 0 ||
	       (closed != NULL && path[0] == '/' && strstr(closed, "//") == NULL &&
		strstr(closed, "/./") == NULL && strstr(closed, "/../") == NULL);
}

static int new_linux_mount(struct additional_mount *mount, const char *source,
			   const char *destination, struct error *err)
{
	bool plain = is_plain_absolute(source);
	if (!plain || !is_plain_absolute(destination))
		return error_set(err, ERROR_FORMAT,
				 "%s '%s' is not an absolute path without '..', '.' and '//'",
				 plain ? "destination" : "source", plain ? destination : source);
	for (size_t i = 0; i < ARRAY_SIZE(system_directories); i++) {
		if (strcmp(destination, system_directories[i]) == 0)
			return error_set(err, ERROR_FORMAT,
					 "destination '%s' would replace a system directory of the "
					 "container",
					 destination);
	}
	if (text_starts_with(destination, "/proc/") || text_starts_with(destination, "/sys/"))
		return error_set(err, ERROR_FORMAT, "destination '%s' lies in a kernel file system",
				 destination);
	mount->source = memory_copy(source);
	mount->destination = memory_copy(destination);
	return 0;
}

static int new_windows_mount(struct additional_mount *mount, const char *source,
			     const char *destination, struct error *err)
{
	const char *directory =
		mount->kind == ADDITIONAL_MOUNT_SYSTEM32 ? WINDOWS_SYSTEM32 : WINDOWS_SYSWOW64;
	const char *target = destination != NULL ? destination : windows_path_base(source);
	if (!windows_path_is_relative(source))
		return error_set(
			err, ERROR_FORMAT,
			"source '%s' is not a path below the driver's directory: no drive, "
			"no leading separator, no '..', no '.'",
			source);
	if (!windows_path_is_name(target))
		return error_set(err, ERROR_FORMAT,
				 "destination '%s' is not a file name: the file goes into %s",
				 target, directory);
	mount->source = memory_copy(source);
	mount->destination = text_format("%s\\%s", directory, target);
	for (char *at = mount->source; at != NULL && *at != '\0'; at++) {
		if (*at == '/')
			*at = '\\';
	}
	return 0;
}

static void mount_free(struct additional_mount *mount)
{
	free(mount->vendor);
	free(mount->source);
	free(mount->destination);
}

int additional_mounts_add(struct additional_mounts *mounts, enum additional_mount_kind kind,
			  const char *vendor, const char *source, const char *destination,
			  struct error *err)
{
	struct additional_mount mount = {.kind = kind};
	if (mounts->count == ADDITIONAL_MOUNTS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d additional mounts",
				 (int)ADDITIONAL_MOUNTS_MAX);
	int rc = kind == ADDITIONAL_MOUNT_LINUX
			 ? new_linux_mount(&mount, source,
					   destination != NULL ? destination : source, err)
			 : new_windows_mount(&mount, source, destination, err);
	if (rc < 0)
		return rc;
	mount.vendor = memory_copy(vendor);
	if (mount.vendor == NULL || mount.source == NULL || mount.destination == NULL) {
		mount_free(&mount);
		return error_memory(err);
	}
	mounts->items[mounts->count++] = mount;
	return 0;
}

void additional_mounts_free(struct additional_mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		mount_free(&mounts->items[i]);
	mounts->count = 0;
}
