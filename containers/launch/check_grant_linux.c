/* SPDX-License-Identifier: MIT */
#include "containers/launch/check_grant.h"

#include <string.h>
#include <uv.h>

/* Bits of st_mode that tell what a file is. */
enum { FILE_TYPE = 0170000, FILE_CHARACTER = 0020000, FILE_BLOCK = 0060000 };

static bool has_parent_step(const char *path)
{
	for (const char *step = path; step != NULL; step = strchr(step, '/')) {
		step += *step == '/';
		if (strncmp(step, "..", 2) == 0 && (step[2] == '/' || step[2] == '\0'))
			return true;
	}
	return false;
}

/* The rules that paths on the host and in the container share. */
static bool check_path(struct grant_check *check, const char *what, const char *path)
{
	if (path[0] == '\0')
		check_offence(check, "%s: path is empty", what);
	else if (path[0] != '/')
		check_offence(check, "%s %s: path is not absolute", what, path);
	else if (has_parent_step(path))
		check_offence(check, "%s %s: path holds \"..\"", what, path);
	else
		return true;
	return false;
}

static void check_container_path(struct grant_check *check, const char *what, const char *path)
{
	if (check_path(check, what, path) && path[strspn(path, "/.")] == '\0')
		check_offence(check, "%s %s: path is the root of the container", what, path);
}

void check_linux_mount(struct grant_check *check, const struct grant_entry *mount)
{
	uv_stat_t status = {0};
	if (check_path(check, "mount source", mount->host_path))
		(void)check_stat(check, "mount source", mount->host_path, &status);
	check_container_path(check, "mount target", mount->container_path);
}

void check_linux_device(struct grant_check *check, const struct grant_entry *device)
{
	const char *letters = device->permissions;
	uv_stat_t status = {0};
	if (check_path(check, "device node", device->host_path) &&
	    check_stat(check, "device node", device->host_path, &status) &&
	    (status.st_mode & FILE_TYPE) != FILE_CHARACTER &&
	    (status.st_mode & FILE_TYPE) != FILE_BLOCK)
		check_offence(check, "device node %s: not a character or block device",
			      device->host_path);
	if (letters[0] == '\0' || letters[strspn(letters, "rwm")] != '\0')
		check_offence(check,
			      "device node %s: permissions \"%s\" are not letters of \"rwm\"",
			      device->host_path, letters);
	check_container_path(check, "device target", device->container_path);
}
