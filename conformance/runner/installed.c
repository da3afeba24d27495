/* SPDX-License-Identifier: MIT */
#include "conformance/runner/installed.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"

#include <string.h>

int installed_file(const char *folder, const char *name, const char *suffix, char **out,
		   struct error *err)
{
	if (strpbrk(name, "/\\") != NULL || file_exists(name)) {
		*out = memory_copy(name);
		return 0;
	}
	char *path CLEANUP_FREE = NULL;
	char *relative CLEANUP_FREE = text_format("../share/gpucert/%s/%s%s", folder, name, suffix);
	int rc = path_beside_program(relative, &path, err);
	if (rc < 0)
		return rc;
	if (!file_exists(path))
		return error_set(
			err, ERROR_NOT_FOUND,
			"%s: there is no such file, and none of that name is installed (%s)", name,
			path);
	*out = STEAL(path);
	return 0;
}
