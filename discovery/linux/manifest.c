/* SPDX-License-Identifier: MIT */
#include "discovery/linux/manifest.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <string.h>

enum { MANIFEST_MAX = 64 * 1024 };

int manifest_find_library(struct elf_closure *closure, const char *manifest, const char *name,
			  char **out, struct error *err)
{
	char *directory CLEANUP_FREE = path_directory(manifest);
	char *joined CLEANUP_FREE = NULL;

	if (strchr(name, '/') == NULL)
		return elf_closure_find(closure, name, out, err);
	if (directory == NULL)
		return error_memory(err);
	joined = path_is_absolute(name) ? strdup(name) : path_join(directory, name);
	*out = joined != NULL ? path_normalize(joined) : NULL;
	return *out != NULL ? 0 : error_memory(err);
}

void manifest_read_directory(struct node *node, const char *directory, const char *suffix,
			     manifest_read *read)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	int rc = file_list(directory, &names, &err);

	if (rc < 0 && rc != ERROR_NOT_FOUND)
		builder_diagnose(node->builder, directory, "%s", err.text);
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(directory, names.items[i]);
		char *data CLEANUP_FREE = NULL;
		size_t size = 0;

		if (path == NULL || !text_ends_with(names.items[i], suffix))
			continue;
		const char *manifest = places_host(node->places, path);

		err = (struct error){0};
		rc = file_read(path, MANIFEST_MAX, &data, &size, &err);
		if (rc == 0)
			rc = read(node, manifest, data, size, &err);
		if (rc < 0)
			builder_diagnose(node->builder, manifest, "%s", err.text);
	}
}
