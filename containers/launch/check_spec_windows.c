/* SPDX-License-Identifier: MIT */
#include "containers/launch/check_spec.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "containers/launch/launcher.h"

#include <ctype.h>
#include <string.h>
#include <uv.h>

static bool is_separator(char c)
{
	return c == '\\' || c == '/';
}

/* "C:\" or "\"; 0: not absolute. Not "C:x", which hangs on the current folder of a drive. */
static size_t spec_root_length(const char *path)
{
	if (isalpha((unsigned char)path[0]) && path[1] == ':')
		return is_separator(path[2]) ? 3 : 0;
	return is_separator(path[0]) ? 1 : 0;
}

/* "\\.\pipe\NAME" */
static bool spec_is_pipe(const char *path)
{
	static const char prefix[] = "//./pipe/";

	for (size_t i = 0; i < sizeof(prefix) - 1; i++) {
		if (prefix[i] == '/' ? !is_separator(path[i])
				     : tolower((unsigned char)path[i]) != prefix[i])
			return false;
	}
	return path[sizeof(prefix) - 1] != '\0';
}

/* The first step that means no file of its own name, with its length; NULL: none. */
static const char *spec_bad_step(const char *steps, size_t *length)
{
	char step[256] = "";

	for (; *steps != '\0'; steps += *length + (steps[*length] != '\0' ? 1 : 0)) {
		*length = strcspn(steps, "/\\");
		if (*length == 0)
			continue;
		if (*length >= sizeof(step))
			return steps;
		memcpy(step, steps, *length);
		step[*length] = '\0';
		if (!path_is_windows_name(step))
			return steps;
	}
	return NULL;
}

/* The rules that paths on the host and in the container share. */
static bool spec_path(struct spec_check *check, const char *what, const char *path)
{
	size_t root = path != NULL ? spec_root_length(path) : 0;
	const char *bad = NULL;
	size_t length = 0;

	if (path == NULL || path[0] == '\0')
		spec_offence(check, "%s: path is empty", what);
	else if (root == 0)
		spec_offence(check, "%s %s: path is not absolute", what, path);
	else if (is_separator(path[0]) && is_separator(path[1]))
		spec_offence(check, "%s %s: a share or device path is no path of a drive", what,
			     path);
	else if ((bad = spec_bad_step(path + root, &length)) != NULL)
		spec_offence(check, "%s %s: \"%.*s\" is no file name on Windows", what, path,
			     (int)length, bad);
	else
		return true;
	return false;
}

static void spec_container_path(struct spec_check *check, const char *what, const char *path)
{
	if (spec_path(check, what, path) && path[spec_root_length(path)] == '\0')
		spec_offence(check, "%s %s: path is the root of a drive of the container", what,
			     path);
}

/* A pipe is there as long as its server is, and looking at it would be a connection. */
static void spec_mount_source(struct spec_check *check, const char *path)
{
	uv_stat_t status = {0};

	if (spec_path(check, "mount source", path) && LAUNCH_HOST == LAUNCH_WINDOWS)
		(void)spec_stat(check, "mount source", path, &status);
}

void spec_windows_mount(struct spec_check *check, const struct launch_mount *mount)
{
	bool pipe = mount->host_path != NULL && spec_is_pipe(mount->host_path);

	if (!pipe)
		spec_mount_source(check, mount->host_path);
	if (!pipe || mount->container_path == NULL || !spec_is_pipe(mount->container_path))
		spec_container_path(check, "mount target", mount->container_path);
}

static bool spec_is_guid(const char *id)
{
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	for (size_t i = 0; i < sizeof(shape) - 1; i++) {
		if (shape[i] == 'x' ? !isxdigit((unsigned char)id[i]) : id[i] != '-')
			return false;
	}
	return id[sizeof(shape) - 1] == '\0';
}

static void spec_device_id(struct spec_check *check, const char *path)
{
	static const char *const of_class[] = {"class/", "class://", "vpci-class-guid://"};
	const char *separator = strstr(path, "://");

	for (size_t i = 0; i < ARRAY_SIZE(of_class); i++) {
		const char *id = path + strlen(of_class[i]);

		if (!text_starts_with(path, of_class[i]))
			continue;
		if (!spec_is_guid(id))
			spec_offence(check, "device %s: \"%s\" is no GUID", path, id);
		return;
	}
	if (separator == NULL || separator == path || separator[strlen("://")] == '\0')
		spec_offence(check, "device %s: neither TYPE://ID nor class/GUID", path);
}

void spec_windows_device(struct spec_check *check, const struct launch_device *device)
{
	const char *path = device->host_path != NULL ? device->host_path : "";

	spec_device_id(check, path);
	if (device->container_path != NULL && device->container_path[0] != '\0')
		spec_offence(check, "device %s: container path \"%s\", which containerd refuses",
			     path, device->container_path);
	if (device->permissions != NULL && device->permissions[0] != '\0')
		spec_offence(check, "device %s: permissions \"%s\", which containerd refuses", path,
			     device->permissions);
}

/* Behind the root; drive C is what a path without a drive is on. */
static const char *spec_steps(const char *path, int *drive)
{
	*drive = path[0] != '\0' && path[1] == ':' ? toupper((unsigned char)path[0]) : 'C';
	return path + spec_root_length(path);
}

char *spec_windows_place(const char *path)
{
	struct text place CLEANUP_TEXT = {0};
	int drive = 0;
	const char *at = spec_steps(path, &drive);

	text_addf(&place, "%c:", drive);
	for (at += strspn(at, "/\\"); *at != '\0'; at += strspn(at, "/\\")) {
		text_add(&place, "\\");
		for (; *at != '\0' && !is_separator(*at); at++) {
			char lower = (char)tolower((unsigned char)*at);

			text_append(&place, &lower, 1);
		}
	}
	return text_take(&place);
}
