/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text_index.h"
#include "base/windows_device.h"
#include "base/windows_path.h"
#include "containers/launch/launch.h"

#include <ctype.h>
#include <string.h>

/* The type of a file in st_mode. */
enum { FILE_TYPE = 0170000, FILE_CHARACTER = 0020000, FILE_BLOCK = 0060000 };

/* False, with an offence added, when the file does not exist. */
static bool check_exists(struct text_list *offences, const char *what, const char *path,
			 uv_stat_t *status)
{
	uv_fs_t request;
	int rc = uv_fs_stat(NULL, &request, path, NULL);
	*status = request.statbuf;
	uv_fs_req_cleanup(&request);
	if (rc < 0)
		text_list_addf(offences, "%s %s: %s", what, path, uv_strerror(rc));
	return rc == 0;
}

/* The rules that paths on the host and in the container share. */
static bool check_path(struct text_list *offences, const char *what, const char *path)
{
	if (path[0] != '/') {
		if (path[0] == '\0')
			text_list_addf(offences, "%s: path is empty", what);
		else
			text_list_addf(offences, "%s %s: path is not absolute", what, path);
		return false;
	}
	for (const char *step = path; step != NULL; step = strchr(step, '/')) {
		step += *step == '/';
		if (strncmp(step, "..", 2) == 0 && (step[2] == '/' || step[2] == '\0')) {
			text_list_addf(offences, "%s %s: path holds \"..\"", what, path);
			return false;
		}
	}
	return true;
}

static void check_target(struct text_list *offences, const char *what, const char *path)
{
	if (check_path(offences, what, path) && path[strspn(path, "/.")] == '\0')
		text_list_addf(offences, "%s %s: path is the root of the container", what, path);
}

static void check_linux_mount(struct text_list *offences, const struct grant_entry *mount)
{
	uv_stat_t status = {0};
	if (check_path(offences, "mount source", mount->host_path))
		(void)check_exists(offences, "mount source", mount->host_path, &status);
	check_target(offences, "mount target", mount->container_path);
}

static void check_linux_device(struct text_list *offences, const struct grant_entry *device)
{
	const char *letters = device->permissions;
	uv_stat_t status = {0};
	if (check_path(offences, "device node", device->host_path) &&
	    check_exists(offences, "device node", device->host_path, &status) &&
	    (status.st_mode & FILE_TYPE) != FILE_CHARACTER &&
	    (status.st_mode & FILE_TYPE) != FILE_BLOCK)
		text_list_addf(offences, "device node %s: not a character or block device",
			       device->host_path);
	if (letters[0] == '\0' || letters[strspn(letters, "rwm")] != '\0')
		text_list_addf(offences,
			       "device node %s: permissions \"%s\" are not letters of \"rwm\"",
			       device->host_path, letters);
	check_target(offences, "device target", device->container_path);
}

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

/* A path without a drive is on C. */
static bool parse_windows_path(struct text_list *offences, const char *what, const char *path,
			       struct windows_path *out)
{
	struct error why = {0};
	bool rooted = windows_path_is_separator(path[0]) && !windows_path_is_separator(path[1]);
	char *full CLEANUP_FREE = text_format("%s%s", rooted ? "C:" : "", path);
	if (windows_path_parse(full, what, out, &why) == 0)
		return true;
	text_list_addf(offences, "%s", why.text);
	return false;
}

static void check_windows_mount(struct text_list *offences, const struct grant_entry *mount)
{
	struct windows_path source CLEANUP_WINDOWS_PATH = {0};
	struct windows_path target CLEANUP_WINDOWS_PATH = {0};
	uv_stat_t status = {0};
	/* A pipe exists as long as its server, and a stat() would connect to it. */
	bool pipe = is_pipe(mount->host_path);
	if (!pipe && parse_windows_path(offences, "mount source", mount->host_path, &source) &&
	    launch_host == LAUNCH_WINDOWS)
		(void)check_exists(offences, "mount source", mount->host_path, &status);

	if (pipe && is_pipe(mount->container_path))
		return;
	if (parse_windows_path(offences, "mount target", mount->container_path, &target) &&
	    target.names.count == 0)
		text_list_addf(offences,
			       "mount target '%s': is the root of a drive of the container",
			       mount->container_path);
}

static void check_windows_device(struct text_list *offences, const struct grant_entry *entry)
{
	struct windows_device device = {0};
	struct error why = {0};
	if (windows_device_parse(entry->host_path, &device, &why) < 0)
		text_list_addf(offences, "%s", why.text);
	else if (device.type == WINDOWS_DEVICE_CLASS && !windows_device_is_guid(device.id))
		text_list_addf(offences, "device '%s': '%s' is not a GUID", entry->host_path,
			       device.id);
	if (entry->container_path[0] != '\0')
		text_list_addf(offences,
			       "device %s: container path \"%s\", which containerd refuses",
			       entry->host_path, entry->container_path);
	if (entry->permissions[0] != '\0')
		text_list_addf(offences, "device %s: permissions \"%s\", which containerd refuses",
			       entry->host_path, entry->permissions);
}

void launch_check_grant(const struct grant *grant, enum launch_system system,
			struct text_list *offences)
{
	const bool windows = system == LAUNCH_WINDOWS;
	const struct grant_list *mounts = &grant->mounts;
	const struct grant_list *devices = &grant->devices;
	for (size_t i = 0; i < grant->envs.count; i++) {
		const char *name = grant->envs.items[i].name;
		if (name[0] == '\0')
			text_list_addf(offences, "environment variable: name is empty");
		else if (strchr(name, '=') != NULL)
			text_list_addf(offences, "environment variable %s: name holds '='", name);
	}
	for (size_t i = 0; i < mounts->count; i++)
		(windows ? check_windows_mount : check_linux_mount)(offences, &mounts->items[i]);
	for (size_t i = 0; i < devices->count; i++)
		(windows ? check_windows_device : check_linux_device)(offences, &devices->items[i]);

	/* Container paths that mounts and device nodes use twice; Windows devices have none. */
	struct text_index seen CLEANUP_TEXT_INDEX = {0};
	struct text_list places CLEANUP_TEXT_LIST = {0};
	const size_t count = mounts->count + (windows ? 0 : devices->count);
	for (size_t i = 0; i < count; i++) {
		const char *path = i < mounts->count
					   ? mounts->items[i].container_path
					   : devices->items[i - mounts->count].container_path;
		text_list_take(&places, windows ? windows_path_place(path) : memory_copy(path));
		if (text_index_put(&seen, places.items[i], i) != i)
			text_list_addf(offences, "container path %s: used twice", path);
	}
}
