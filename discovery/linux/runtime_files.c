/* SPDX-License-Identifier: MIT */
#include "discovery/linux/runtime_files.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

bool runtime_is_in_every_image(const char *path)
{
	static const char *const patterns[] = {"libc.so.6", "ld-linux*.so.*", "ld64.so.*",
					       "ld.so.1",   "ld-musl-*.so.*", "libc.musl-*.so.*"};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (text_glob(patterns[i], path_base(path)))
			return true;
	}
	return false;
}

static void add_once(struct runtime *runtime, const struct discovery_file *file)
{
	const struct discovery_device *device = runtime->device;

	for (size_t i = 0; i < device->file_count; i++) {
		if (text_equal(device->files[i].destination, file->destination))
			return;
	}
	builder_add_file(runtime->node->builder, runtime->device, file);
}

int runtime_path_near(const struct runtime *runtime, const char *file, const char *relative,
		      const char **out, struct error *err)
{
	struct builder *builder = runtime->node->builder;
	char *directory CLEANUP_FREE = path_directory(file);
	char *resolved CLEANUP_FREE = NULL;

	int rc = directory == NULL
			 ? error_memory(err)
			 : file_resolve(runtime->node->places->root, directory, &resolved, err);
	if (rc < 0)
		return rc;
	char *normal CLEANUP_FREE = path_normalize(builder_path(builder, resolved, relative));
	*out = builder_string(builder, normal);
	return normal != NULL ? 0 : error_memory(err);
}

/*
 * Adds a library at its path with the links of the directory resolved. Loaders find a library through
 * links such as /lib -> usr/lib that an image need not have, and libraries look for their data next to
 * the path that they were found at; the real directory works in both cases.
 */
static int add_needed(struct runtime *runtime, const struct elf_file *file, const char *origin,
		      struct error *err)
{
	const char *destination = NULL;

	if (runtime_is_in_every_image(file->destination))
		return 0;
	int rc = runtime_path_near(runtime, file->destination, path_base(file->destination),
				   &destination, err);
	if (rc < 0)
		return rc;
	add_once(runtime, &(struct discovery_file){
				  .source = places_host(runtime->node->places, file->source),
				  .destination = destination,
				  .bits = file->bits,
				  .origin = origin,
			  });
	return 0;
}

int runtime_add_library(struct runtime *runtime, const char *path, const char *origin,
			struct error *err)
{
	struct elf_closure *closure = runtime->closure;
	struct builder *builder = runtime->node->builder;
	struct discovery_device *device = runtime->device;
	size_t first = closure->file_count;
	size_t first_missing = closure->missing_count;

	int rc = elf_closure_add(closure, path, err);
	for (size_t i = first; rc == 0 && i < closure->file_count; i++)
		rc = add_needed(runtime, &closure->files[i], i == first ? origin : "needed-library",
				err);
	for (size_t i = first_missing; rc == 0 && i < closure->missing_count; i++) {
		const struct elf_missing *missing = &closure->missing[i];
		char *directory CLEANUP_FREE = path_directory(missing->needed_by);
		char *sibling CLEANUP_FREE =
			directory != NULL ? path_join(directory, missing->name) : NULL;

		/* Device libraries are loaded by path, one after the other: one that another needs is
		 * loaded already. */
		if (text_equal(origin, "device-library") && sibling != NULL &&
		    places_exist(runtime->node->places, sibling))
			continue;
		builder_diagnose(builder, missing->needed_by, "needs %s, which is not installed",
				 missing->name);
		if (device->health != DISCOVERY_HEALTHY)
			continue;
		device->health = DISCOVERY_UNHEALTHY;
		device->health_reason =
			arena_format(&builder->arena, "%s, needed by %s, is not installed",
				     missing->name, missing->needed_by);
	}
	return rc;
}

int runtime_add_path(struct runtime *runtime, const char *path, bool directory, const char *origin,
		     struct error *err)
{
	const struct places *places = runtime->node->places;
	char *resolved CLEANUP_FREE = NULL;

	int rc = file_resolve(places->root, path, &resolved, err);
	if (rc < 0)
		return rc;
	add_once(runtime, &(struct discovery_file){
				  .source = resolved,
				  .destination = path,
				  .directory = directory,
				  .origin = origin,
			  });
	return 0;
}

void runtime_add_vulkan_variables(struct runtime *runtime, const char *manifest)
{
	/* Loaders before 1.3.207 know only the old name. */
	static const char *const names[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		builder_add_path(runtime->node->builder, runtime->device, names[i], manifest);
}

bool runtime_is_loadable(struct node *node, const char *library)
{
	struct elf_info own CLEANUP(elf_info_free) = {0};
	struct elf_info other CLEANUP(elf_info_free) = {0};

	return elf_read("/proc/self/exe", &own, NULL) < 0 ||
	       elf_read(node_local(node, library), &other, NULL) < 0 ||
	       (other.bits == own.bits && other.machine == own.machine);
}
