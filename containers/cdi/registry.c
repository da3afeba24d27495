/* SPDX-License-Identifier: MIT */
#include "containers/cdi/registry.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

/* A device of a file. */
struct entry {
	const char *name;
	const struct cdi_file *file;
};

/* *bytes: total size of the files so far. */
static int add_file(struct cdi_registry *registry, const char *path, size_t priority, size_t *bytes,
		    struct error *err)
{
	if (registry->count == CDI_FILES_MAX || *bytes > CDI_BYTES_MAX)
		return error_set(err, ERROR_LIMIT, "%s: more than %d files or %d bytes of Specs",
				 path, CDI_FILES_MAX, CDI_BYTES_MAX);
	struct arena *arena = &registry->arena;
	registry->files =
		arena_grow(arena, registry->files, registry->count, sizeof(*registry->files));
	struct cdi_file *file = &registry->files[registry->count++];
	*file = (struct cdi_file){.path = arena_string(arena, path), .priority = priority};

	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	struct error why = {0};
	int rc = file_read(path, CDI_FILE_MAX, &data, &size, &why);
	if (rc < 0) {
		file->spec.defect = rc == ERROR_LIMIT ? CDI_TOO_LARGE : CDI_UNREADABLE;
	} else {
		*bytes += size;
		rc = cdi_spec_parse(path, data, size, &file->spec, &why);
	}
	if (rc < 0)
		file->why = arena_string(arena, why.text);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct entry *left = a;
	const struct entry *right = b;
	int order = strcmp(left->name, right->name);
	if (order == 0)
		order = (left->file > right->file) - (left->file < right->file);
	return order;
}

int cdi_registry_read(const struct text_list *places, struct cdi_registry *out, struct error *err)
{
	size_t bytes = 0;
	for (size_t i = 0; i < places->count; i++) {
		const char *place = places->items[i];
		struct text_list names CLEANUP_TEXT_LIST = {0};
		bool is_folder = file_is_directory(place);
		int rc = is_folder ? file_list(place, &names, err)
				   : add_file(out, place, i, &bytes, err);
		for (size_t j = 0; rc == 0 && j < names.count; j++) {
			char *path CLEANUP_FREE = path_join(place, names.items[j]);
			if ((text_ends_with(path, ".json") || text_ends_with(path, ".yaml")) &&
			    !file_is_directory(path))
				rc = add_file(out, path, i, &bytes, err);
		}
		if (rc < 0)
			return rc;
	}

	size_t count = 0;
	for (size_t i = 0; i < out->count; i++)
		count += out->files[i].spec.devices.count;
	struct entry *entries CLEANUP_FREE = memory_allocate(count + 1, sizeof(*entries));
	count = 0;
	for (size_t i = 0; i < out->count; i++) {
		text_each (name, &out->files[i].spec.devices)
			entries[count++] = (struct entry){name, &out->files[i]};
	}

	/* Equal names become neighbours, in the order of their files' priorities. */
	qsort(entries, count, sizeof(*entries), by_name);
	for (size_t i = 1; i < count; i++) {
		const struct entry *left = &entries[i - 1];
		const struct entry *right = &entries[i];
		if (strcmp(left->name, right->name) == 0 &&
		    left->file->priority == right->file->priority)
			text_list_addf(&out->conflicts, "%s: in %s and %s", left->name,
				       left->file->path, right->file->path);
	}
	return 0;
}

void cdi_registry_free(struct cdi_registry *registry)
{
	for (size_t i = 0; i < registry->count; i++)
		cdi_spec_free(&registry->files[i].spec);
	arena_free(&registry->arena);
	text_list_free(&registry->conflicts);
	*registry = (struct cdi_registry){0};
}
