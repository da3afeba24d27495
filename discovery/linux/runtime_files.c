/* SPDX-License-Identifier: MIT */
#include "discovery/linux/runtime_files.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <limits.h>
#include <string.h>

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

static int add_once(struct runtime *runtime, const struct discovery_file *file)
{
	const struct discovery_device *device = runtime->device;
	for (size_t i = 0; i < device->file_count; i++) {
		if (text_equal(device->files[i].destination, file->destination))
			return 0;
	}
	builder_add_file(runtime->node->builder, runtime->device, file);
	return 0;
}

/*
 * The path with the links of its directory resolved. Loaders find a library through links such as
 * /lib -> usr/lib that an image need not have, and libraries look for their data beside the path
 * that they were found at; the real directory works in both.
 */
static int real_place(const struct runtime *runtime, const char *path, char **out,
		      struct error *err)
{
	const struct places *places = runtime->node->places;
	char *directory CLEANUP_FREE = path_directory(path);
	char *resolved CLEANUP_FREE = NULL;
	int rc = directory == NULL ? error_memory(err)
				   : file_resolve(places->root, directory, &resolved, err);
	if (rc < 0)
		return rc;
	*out = path_join(resolved, path_base(path));
	return *out != NULL ? 0 : error_memory(err);
}

static int add_needed(struct runtime *runtime, const struct elf_file *file, const char *origin,
		      struct error *err)
{
	char *place CLEANUP_FREE = NULL;
	if (runtime_is_in_every_image(file->destination))
		return 0;
	int rc = real_place(runtime, file->destination, &place, err);
	if (rc < 0)
		return rc;
	return add_once(runtime, &(struct discovery_file){
					 .source = places_host(runtime->node->places, file->source),
					 .destination = place,
					 .bits = file->bits,
					 .origin = origin,
				 });
}

/* Device libraries are loaded by path, one after the other: one that another needs is there
 * already. */
static bool is_beside(const struct runtime *runtime, const struct elf_missing *missing)
{
	char *directory CLEANUP_FREE = path_directory(missing->needed_by);
	char *path CLEANUP_FREE = directory != NULL ? path_join(directory, missing->name) : NULL;
	return path != NULL && places_exist(runtime->node->places, path);
}

static void report_missing(struct runtime *runtime, const struct elf_missing *missing)
{
	struct builder *builder = runtime->node->builder;
	struct discovery_device *device = runtime->device;
	builder_diagnose(builder, missing->needed_by, "needs %s, which is not installed",
			 missing->name);
	if (device->health != DISCOVERY_HEALTHY)
		return;
	device->health = DISCOVERY_UNHEALTHY;
	device->health_reason = arena_format(&builder->arena, "%s, needed by %s, is not installed",
					     missing->name, missing->needed_by);
}

int runtime_add_library(struct runtime *runtime, const char *path, const char *origin,
			struct error *err)
{
	struct elf_closure *closure = runtime->closure;
	size_t first = closure->file_count;
	size_t first_missing = closure->missing_count;
	int rc = elf_closure_add(closure, path, err);
	for (size_t i = first; rc == 0 && i < closure->file_count; i++)
		rc = add_needed(runtime, &closure->files[i], i == first ? origin : "needed-library",
				err);
	for (size_t i = first_missing; rc == 0 && i < closure->missing_count; i++) {
		if (!text_equal(origin, "device-library") ||
		    !is_beside(runtime, &closure->missing[i]))
			report_missing(runtime, &closure->missing[i]);
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
	return add_once(runtime, &(struct discovery_file){
					 .source = resolved,
					 .destination = path,
					 .directory = directory,
					 .origin = origin,
				 });
}
