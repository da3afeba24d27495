/* SPDX-License-Identifier: MIT */
#include "containers/launch/check_spec.h"

#include <string.h>
#include <uv.h>

/* Bits of st_mode that tell what a file is. */
enum { FILE_TYPE = 0170000, FILE_CHARACTER = 0020000, FILE_BLOCK = 0060000 };

static bool spec_has_parent_step(const char *path)
{
	for (const char *step = path; step != NULL; step = strchr(step, '/')) {
		step += *step == '/';
		if (strncmp(step, "..", 2) == 0 && (step[2] == '/' || step[2] == '\0'))
			return true;
	}
	return false;
}

/* The rules that paths on the host and in the container share. */
static bool spec_path(struct spec_check *check, const char *what, const char *path)
{
	if (path == NULL || path[0] == '\0')
		spec_offence(check, "%s: path is empty", what);
	else if (path[0] != '/')
		spec_offence(check, "%s %s: path is not absolute", what, path);
	else if (spec_has_parent_step(path))
		spec_offence(check, "%s %s: path holds \"..\"", what, path);
	else
		return true;
	return false;
}

static void spec_container_path(struct spec_check *check, const char *what, const char *path)
{
	if (spec_path(check, what, path) && path[strspn(path, "/.")] == '\0')
		spec_offence(check, "%s %s: path is the root of the container", what, path);
}

void spec_linux_mount(struct spec_check *check, const struct grant_entry *mount)
{
	uv_stat_t status = {0};

	if (spec_path(check, "mount source", mount->host_path))
		(void)spec_stat(check, "mount source", mount->host_path, &status);
	spec_container_path(check, "mount target", mount->container_path);
}

void spec_linux_device(struct spec_check *check, const struct grant_entry *device)
{
	const char *letters = device->permissions != NULL ? device->permissions : "";
	uv_stat_t status = {0};

	if (spec_path(check, "device node", device->host_path) &&
	    spec_stat(check, "device node", device->host_path, &status) &&
	    (status.st_mode & FILE_TYPE) != FILE_CHARACTER &&
	    (status.st_mode & FILE_TYPE) != FILE_BLOCK)
		spec_offence(check, "device node %s: not a character or block device",
			     device->host_path);
	if (letters[0] == '\0' || letters[strspn(letters, "rwm")] != '\0')
		spec_offence(check, "device node %s: permissions \"%s\" are not letters of \"rwm\"",
			     device->host_path != NULL ? device->host_path : "", letters);
	spec_container_path(check, "device target", device->container_path);
}
