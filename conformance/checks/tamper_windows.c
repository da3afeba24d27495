/* SPDX-License-Identifier: MIT */
#include "conformance/checks/tamper.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

/* Without drive, in lower case. The image's programs, and what every program stands on. Libraries
 * of APIs come from drivers: they are nobody's but theirs. */
static const char *const own_places[] = {
	"\\gpucert",
	"\\windows\\system32\\ntdll.dll",
	"\\windows\\system32\\kernel32.dll",
	"\\windows\\system32\\kernelbase.dll",
	"\\windows\\system32\\ucrtbase.dll",
	"\\windows\\system32\\msvcrt.dll",
};

/* One spelling for each path: case, kind and number of separators and the drive make no other.
 * NULL: out of memory. */
static char *windows_place(const char *path)
{
	struct text place CLEANUP_TEXT = {0};

	if (isalpha((unsigned char)path[0]) && path[1] == ':')
		path += 2;
	for (; *path != '\0'; path++) {
		bool separator = *path == '/' || *path == '\\';
		char letter = separator ? '\\' : (char)tolower((unsigned char)*path);

		if (separator && place.size > 0 && place.data[place.size - 1] == '\\')
			continue;
		text_append(&place, &letter, 1);
	}
	if (place.size > 1 && place.data[place.size - 1] == '\\')
		place.data[--place.size] = '\0';
	return place.failed ? NULL : (place.size > 0 ? text_take(&place) : strdup(""));
}

static bool windows_is_within(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == '\\');
}

static int judge_mount(const struct grant_entry *mount, struct text_list *found, struct error *err)
{
	char *place CLEANUP_FREE =
		windows_place(mount->container_path != NULL ? mount->container_path : "");

	if (place == NULL)
		return error_memory(err);
	for (size_t i = 0; place[0] != '\0' && i < ARRAY_SIZE(own_places); i++) {
		if (windows_is_within(place, own_places[i]) ||
		    windows_is_within(own_places[i], place))
			return text_list_take(
				found,
				text_format("mount of %s at %s hides the image's %s",
					    mount->host_path != NULL ? mount->host_path : "",
					    mount->container_path, own_places[i]),
				err);
	}
	return 0;
}

int tamper_find_windows(const struct grant *grant, struct text_list *found, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < grant->mounts.count; i++)
		rc = judge_mount(&grant->mounts.items[i], found, err);
	for (size_t i = 0; rc == 0 && i < grant->envs.count; i++) {
		const char *name = grant->envs.items[i].name;
		const char *reason = name != NULL ? tamper_variable(name) : NULL;

		if (reason != NULL)
			rc = text_list_take(found, text_format("variable %s %s", name, reason),
					    err);
	}
	return rc;
}
