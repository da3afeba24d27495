/* SPDX-License-Identifier: MIT */
#include "containers/cdi/registry.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

struct scan {
	struct cdi_registry *registry;
	size_t bytes;
	struct error *err;
};

/* A device of a file. */
struct entry {
	const char *name;
	const struct cdi_file *file;
};

static int read_spec(struct scan *scan, const char *path, struct cdi_file *file, struct error *why)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(path, CDI_FILE_MAX, &data, &size, why);
	if (rc < 0) {
		file->spec.defect = rc == ERROR_LIMIT ? CDI_TOO_LARGE : CDI_UNREADABLE;
		return rc;
	}
	scan->bytes += size;
	return cdi_spec_parse(path, data, size, &file->spec, why);
}

static int add_file(struct scan *scan, const char *path, size_t priority)
{
	struct cdi_registry *registry = scan->registry;
	struct error why = {0};
	if (registry->count == CDI_FILES_MAX || scan->bytes > CDI_BYTES_MAX)
		return error_set(scan->err, ERROR_LIMIT,
				 "%s: more than %d files or %d bytes of Specs", path, CDI_FILES_MAX,
				 CDI_BYTES_MAX);
	struct arena *arena = &registry->arena;
	struct cdi_file *files =
		arena_grow(arena, registry->files, registry->count, sizeof(*files));
	if (files == NULL)
		return error_memory(scan->err);
	registry->files = files;
	struct cdi_file *file = &files[registry->count++];
	*file = (struct cdi_file){.path = arena_string(arena, path), .priority = priority};
	int rc = read_spec(scan, path, file, &why);
	if (rc < 0)
		file->why = arena_string(arena, why.text);
	return rc == ERROR_MEMORY || arena->failed ? error_memory(scan->err) : 0;
}

static int add_folder(struct scan *scan, const char *folder, size_t priority)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = file_list(folder, &names, scan->err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(folder, names.items[i]);
		if (path == NULL)
			return error_memory(scan->err);
		if ((text_ends_with(path, ".json") || text_ends_with(path, ".yaml")) &&
		    !file_is_directory(path))
			rc = add_file(scan, path, priority);
	}
	return rc;
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

static size_t count_devices(const struct cdi_registry *registry)
{
	size_t count = 0;
	for (size_t i = 0; i < registry->count; i++)
		count += registry->files[i].spec.devices.count;
	return count;
}

/* Names beside each other are of files in the order of their priorities. */
static int find_conflicts(struct cdi_registry *registry, struct error *err)
{
	struct entry *entries CLEANUP_FREE = calloc(count_devices(registry) + 1, sizeof(*entries));
	size_t count = 0;
	int rc = 0;
	if (entries == NULL)
		return error_memory(err);
	for (size_t i = 0; i < registry->count; i++) {
		text_each (name, &registry->files[i].spec.devices)
			entries[count++] = (struct entry){name, &registry->files[i]};
	}
	qsort(entries, count, sizeof(*entries), by_name);
	for (size_t i = 1; rc == 0 && i < count; i++) {
		const struct entry *left = &entries[i - 1];
		const struct entry *right = &entries[i];
		if (strcmp(left->name, right->name) == 0 &&
		    left->file->priority == right->file->priority)
			rc = text_list_addf(&registry->conflicts, err, "%s: in %s and %s",
					    left->name, left->file->path, right->file->path);
	}
	return rc;
}

int cdi_registry_read(const struct text_list *places, struct cdi_registry *out, struct error *err)
{
	struct scan scan = {.registry = out, .err = err};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < places->count; i++)
		rc = file_is_directory(places->items[i]) ? add_folder(&scan, places->items[i], i)
							 : add_file(&scan, places->items[i], i);
	return rc == 0 ? find_conflicts(out, err) : rc;
}

void cdi_registry_free(struct cdi_registry *registry)
{
	for (size_t i = 0; i < registry->count; i++)
		cdi_spec_free(&registry->files[i].spec);
	arena_free(&registry->arena);
	text_list_free(&registry->conflicts);
	*registry = (struct cdi_registry){0};
}
