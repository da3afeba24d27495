/* SPDX-License-Identifier: MIT */
#include "containers/launch/check_grant.h"

#include "base/cleanup.h"
#include "base/windows_device.h"
#include "base/windows_path.h"

#include <ctype.h>
#include <string.h>
#include <uv.h>

/* "\\.\pipe\NAME" */
static bool is_pipe(const char *path)
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
static int parse(const char *what, const char *path, struct windows_path *out, struct error *why)
{
	bool rooted = windows_path_is_separator(path[0]) && !windows_path_is_separator(path[1]);
	char *full CLEANUP_FREE = rooted ? text_format("C:%s", path) : NULL;
	return windows_path_parse(full != NULL ? full : path, what, out, why);
}

static void check_container_path(struct grant_check *check, const char *path)
{
	struct windows_path parsed CLEANUP_WINDOWS_PATH = {0};
	struct error why = {0};
	if (parse("mount target", path, &parsed, &why) < 0)
		check_offence(check, "%s", why.text);
	else if (parsed.names.count == 0)
		check_offence(check, "mount target '%s': is the root of a drive of the container",
			      path);
}

static void check_source(struct grant_check *check, const char *path)
{
	struct windows_path parsed CLEANUP_WINDOWS_PATH = {0};
	struct error why = {0};
	uv_stat_t status = {0};
	if (parse("mount source", path, &parsed, &why) < 0)
		check_offence(check, "%s", why.text);
	else if (launch_host == LAUNCH_WINDOWS)
		(void)check_stat(check, "mount source", path, &status);
}

/* A pipe is there as long as its server is, and looking at it would be a connection. */
void check_windows_mount(struct grant_check *check, const struct grant_entry *mount)
{
	bool pipe = is_pipe(mount->host_path);
	if (!pipe)
		check_source(check, mount->host_path);
	if (!pipe || !is_pipe(mount->container_path))
		check_container_path(check, mount->container_path);
}

static void check_device_id(struct grant_check *check, const char *path)
{
	struct windows_device device = {0};
	struct error why = {0};
	if (windows_device_parse(path, &device, &why) < 0)
		check_offence(check, "%s", why.text);
	else if (device.type == WINDOWS_DEVICE_CLASS && !windows_device_is_guid(device.id))
		check_offence(check, "device '%s': '%s' is not a GUID", path, device.id);
}

void check_windows_device(struct grant_check *check, const struct grant_entry *device)
{
	check_device_id(check, device->host_path);
	if (device->container_path[0] != '\0')
		check_offence(check, "device %s: container path \"%s\", which containerd refuses",
			      device->host_path, device->container_path);
	if (device->permissions[0] != '\0')
		check_offence(check, "device %s: permissions \"%s\", which containerd refuses",
			      device->host_path, device->permissions);
}
