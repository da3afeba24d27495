/* SPDX-License-Identifier: MIT */
#include "discovery/windows/store_path.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What `prefix` leaves of the path; NULL when it does not begin so. */
static const char *store_path_after(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncasecmp(path, prefix, length) == 0 ? path + length : NULL;
}

static bool store_path_is_drive(const char *path)
{
	return isalpha((unsigned char)path[0]) && path[1] == ':' && path[2] == '\\';
}

static bool store_path_parts_are_sound(const char *path)
{
	for (const char *part = path; *part != '\0';) {
		size_t length = strcspn(part, "\\");
		char *name CLEANUP_FREE = strndup(part, length);

		if (name == NULL || !path_is_windows_name(name))
			return false;
		part += length + (part[length] != '\0' ? 1 : 0);
	}
	return true;
}

int store_path_normalize(const char *path, const char *windows, char **out, struct error *err)
{
	char *plain CLEANUP_FREE = strdup(path);
	char *full CLEANUP_FREE = NULL;
	const char *rest = NULL;

	if (plain == NULL)
		return error_memory(err);
	for (char *c = plain; *c != '\0'; c++)
		*c = *c == '/' ? '\\' : *c;
	rest = store_path_after(plain, "\\SystemRoot\\");
	if (rest != NULL)
		full = text_format("%s\\%s", windows, rest);
	else
		full = strdup(store_path_after(plain, "\\??\\") != NULL ? plain + 4 : plain);
	if (full == NULL)
		return error_memory(err);
	for (size_t length = strlen(full); length > 3 && full[length - 1] == '\\'; length--)
		full[length - 1] = '\0';
	if (!store_path_is_drive(full) || !store_path_parts_are_sound(full + 3))
		return error_set(err, ERROR_FORMAT, "'%s' is no path of a driver store folder",
				 path);
	*out = STEAL(full);
	return 0;
}

bool store_path_is_in_container(const char *path)
{
	static const char name[] = "HostDriverStore";

	while (*path != '\0') {
		size_t length = strcspn(path, "\\/");

		if (length == sizeof(name) - 1 && strncasecmp(path, name, length) == 0)
			return true;
		path += length + (path[length] != '\0' ? 1 : 0);
	}
	return false;
}
