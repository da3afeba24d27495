/* SPDX-License-Identifier: MIT */
#include "discovery/windows/store_path.h"

#include "base/cleanup.h"
#include "base/windows_path.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What `prefix` leaves of the path; NULL when it does not begin so. */
static const char *store_path_after(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);
	return strncasecmp(path, prefix, length) == 0 ? path + length : NULL;
}

int store_path_normalize(const char *path, const char *windows, char **out, struct error *err)
{
	char *plain CLEANUP_FREE = strdup(path);
	char *full CLEANUP_FREE = NULL;
	if (plain == NULL)
		return error_memory(err);
	for (char *c = plain; *c != '\0'; c++)
		*c = *c == '/' ? '\\' : *c;
	const char *rest = store_path_after(plain, "\\SystemRoot\\");
	if (rest != NULL)
		full = text_format("%s\\%s", windows, rest);
	else
		full = strdup(store_path_after(plain, "\\??\\") != NULL ? plain + 4 : plain);
	if (full == NULL)
		return error_memory(err);
	for (size_t length = strlen(full); length > 3 && full[length - 1] == '\\'; length--)
		full[length - 1] = '\0';
	if (!windows_path_is_absolute(full))
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
