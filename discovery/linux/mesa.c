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

int mesa_find_renderer(struct node *node, const char *library, const char **out, struct error *err)
{
	char *directory CLEANUP_FREE = path_directory(node_local(node, library));

	if (directory == NULL)
		return error_memory(err);
	char *found CLEANUP_FREE = find_last(directory, "libgallium-*.so");
	if (found == NULL)
		found = find_last(builder_path(node->builder, directory, "dri"), "swrast_dri.so");
	if (found == NULL)
		return error_set(err, ERROR_NOT_FOUND,
				 "neither libgallium-*.so nor dri/swrast_dri.so, which render, is "
				 "installed next to %s",
				 library);
	*out = builder_string(node->builder, places_host(node->places, found));
	return 0;
}

int runtime_add_mesa(struct runtime *runtime, const char *library, struct error *err)
{
	char *real CLEANUP_FREE = NULL;
	const char *renderer = NULL;

	int rc = file_resolve(runtime->node->places->root, library, &real, err);
	if (rc == 0)
		rc = mesa_find_renderer(runtime->node, real, &renderer, err);
	if (rc == 0)
		rc = runtime_add_library(runtime, renderer, "device-library", err);
	return rc;
}
