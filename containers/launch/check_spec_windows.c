/* SPDX-License-Identifier: MIT */
#include "containers/launch/check_spec.h"

#include "base/cleanup.h"
#include "base/windows_device.h"
#include "base/windows_path.h"
#include "containers/launch/launcher.h"

#include <ctype.h>
#include <string.h>
#include <uv.h>

/* "\\.\pipe\NAME" */
static bool spec_is_pipe(const char *path)
{
	static const char prefix[] = "//./pipe/";

	for (size_t i = 0; i < sizeof(prefix) - 1; i++) {
		if (prefix[i] == '/' ? !windows_path_is_separator(path[i])
				     : tolower((unsigned char)path[i]) != prefix[i])
			return false;
	}
	return path[sizeof(prefix) - 1] != '\0';
}

/* Drive C is what a path without a drive is on. */
static bool spec_parse(struct spec_check *check, const char *what, const char *path,
		       struct windows_path *out)
{
	bool rooted = path != NULL && windows_path_is_separator(path[0]) &&
		      !windows_path_is_separator(path[1]);
	char *full CLEANUP_FREE = rooted ? text_format("C:%s", path) : NULL;
	struct error why = {0};

	if (windows_path_parse(full != NULL ? full : path, what, out, &why) == 0)
		return true;
	spec_offence(check, "%s", why.text);
	return false;
}

static void spec_container_path(struct spec_check *check, const char *what, const char *path)
{
	struct windows_path parsed CLEANUP_WINDOWS_PATH = {0};

	if (spec_parse(check, what, path, &parsed) && parsed.names.count == 0)
		spec_offence(check, "%s '%s': is the root of a drive of the container", what, path);
}

/* A pipe is there as long as its server is, and looking at it would be a connection. */
static void spec_mount_source(struct spec_check *check, const char *path)
{
	struct windows_path parsed CLEANUP_WINDOWS_PATH = {0};
	uv_stat_t status = {0};

	if (spec_parse(check, "mount source", path, &parsed) && LAUNCH_HOST == LAUNCH_WINDOWS)
		(void)spec_stat(check, "mount source", path, &status);
}

void spec_windows_mount(struct spec_check *check, const struct grant_entry *mount)
{
	bool pipe = mount->host_path != NULL && spec_is_pipe(mount->host_path);

	if (!pipe)
		spec_mount_source(check, mount->host_path);
	if (!pipe || mount->container_path == NULL || !spec_is_pipe(mount->container_path))
		spec_container_path(check, "mount target", mount->container_path);
}

static void spec_device_id(struct spec_check *check, const char *path)
{
	struct windows_device device = {0};
	struct error why = {0};

	if (windows_device_parse(path, &device, &why) < 0)
		spec_offence(check, "%s", why.text);
	else if (device.type == WINDOWS_DEVICE_CLASS && !windows_device_is_guid(device.id))
		spec_offence(check, "device '%s': '%s' is not a GUID", path, device.id);
}

void spec_windows_device(struct spec_check *check, const struct grant_entry *device)
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

char *spec_windows_place(const char *path)
{
	struct windows_path parsed CLEANUP_WINDOWS_PATH = {0};
	struct spec_check nobody = {.err = NULL};
	struct text place CLEANUP_TEXT = {0};

	if (!spec_parse(&nobody, "", path, &parsed))
		return strdup(path);
	text_addf(&place, "%c:", parsed.drive);
	for (size_t i = 0; i < parsed.names.count; i++)
		text_addf(&place, "\\%s", parsed.names.items[i]);
	for (size_t i = 0; i < place.size; i++)
		place.data[i] = (char)tolower((unsigned char)place.data[i]);
	return text_take(&place);
}
