/* SPDX-License-Identifier: MIT */
/* Mesa's EGL: the library in the manifest opens another one, which renders. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/runtime_files.h"

#include <string.h>

/* The last matching file of a directory, by name; NULL: none. Caller frees. */
static char *find_last(const char *directory, const char *pattern)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	const char *found = NULL;

	if (file_list(directory, &names, NULL) < 0)
		return NULL;
	text_each (name, &names) {
		if (text_glob(pattern, name) && (found == NULL || strcmp(found, name) < 0))
			found = name;
	}
	return found != NULL ? path_join(directory, found) : NULL;
}

int mesa_find_renderer(const struct places *places, const char *library, char **out,
		       struct error *err)
{
	char *local CLEANUP_FREE = places_local(places, library);
	char *directory CLEANUP_FREE = local != NULL ? path_directory(local) : NULL;
	char *drivers CLEANUP_FREE = directory != NULL ? path_join(directory, "dri") : NULL;

	if (drivers == NULL)
		return error_memory(err);
	char *found CLEANUP_FREE = find_last(directory, "libgallium-*.so");
	if (found == NULL)
		found = find_last(drivers, "swrast_dri.so");
	if (found == NULL)
		return error_set(err, ERROR_NOT_FOUND,
				 "neither libgallium-*.so nor dri/swrast_dri.so, which render, is "
				 "installed next to %s",
				 library);
	*out = strdup(places_host(places, found));
	return *out != NULL ? 0 : error_memory(err);
}

int runtime_add_mesa(struct runtime *runtime, const char *library, struct error *err)
{
	const struct places *places = runtime->node->places;
	char *real CLEANUP_FREE = NULL;
	char *renderer CLEANUP_FREE = NULL;

	int rc = file_resolve(places->root, library, &real, err);
	if (rc == 0)
		rc = mesa_find_renderer(places, real, &renderer, err);
	if (rc == 0)
		rc = runtime_add_library(runtime, renderer, "device-library", err);
	return rc;
}
