/* SPDX-License-Identifier: MIT */
/*
 * PoCL compiles kernels inside the process and then links them with the system's linker, the way a
 * compiler driver links a shared library: `ld -shared ... -lm -lgcc -lgcc_s -lc`, looking for these
 * libraries in GCC's own directory and in the library directories of the system.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/linker_script.h"
#include "discovery/linux/runtime_files.h"

#include <ctype.h>
#include <string.h>

enum { SCRIPT_MAX = 64 * 1024 };

/* Strings are the arena's. */
struct gcc {
	const char *triple;    /* "x86_64-linux-gnu" */
	const char *version;   /* "12" */
	const char *directory; /* "/usr/lib/gcc/x86_64-linux-gnu/12" */
};

/* The GCC that Clang would choose: the newest one for this machine that has a crtbegin.o. */
static int gcc_find(const struct runtime *runtime, struct gcc *out, struct error *err)
{
	const struct node *node = runtime->node;
	struct arena *arena = &node->builder->arena;
	const char *machine = node->builder->snapshot.system.architecture;
	const char *base = node_local(node, "/usr/lib/gcc");
	struct text_list triples CLEANUP_TEXT_LIST = {0};

	int rc = file_list(base, &triples, err);
	for (size_t i = 0; rc == 0 && i < triples.count; i++) {
		const char *triple = triples.items[i];
		const char *below = builder_path(node->builder, base, triple);
		struct text_list versions CLEANUP_TEXT_LIST = {0};

		/* "x86_64-linux-gnu", "x86_64-redhat-linux", ..., but no cross compiler. */
		if (!text_starts_with(triple, machine) || strstr(triple, "-linux") == NULL ||
		    text_ends_with(triple, "x32") || file_list(below, &versions, NULL) < 0)
			continue;
		text_each (version, &versions) {
			const char *directory =
				arena_format(arena, "/usr/lib/gcc/%s/%s", triple, version);
			if (isdigit((unsigned char)version[0]) &&
			    places_exist(node->places,
					 arena_format(arena, "%s/crtbegin.o", directory)) &&
			    (out->version == NULL || strverscmp(version, out->version) > 0))
				*out = (struct gcc){arena_string(arena, triple),
						    arena_string(arena, version), directory};
		}
	}
	if (rc == 0 && out->directory == NULL)
		return error_set(err, ERROR_NOT_FOUND, "/usr/lib/gcc: no GCC for %s", machine);
	return rc;
}

/* Adds the files that the linker script at `path` names by absolute path. Libraries among them keep the
 * path that is written there, since the linker opens exactly that. */
static int link_add_script_inputs(struct runtime *runtime, const char *path, struct error *err)
{
	char *script CLEANUP_FREE = NULL;
	struct text_list inputs CLEANUP_TEXT_LIST = {0};
	size_t size = 0;

	int rc = file_read(node_local(runtime->node, path), SCRIPT_MAX, &script, &size, err);
	if (rc == 0)
		rc = linker_script_inputs(script, size, &inputs, err);
	for (size_t i = 0; rc == 0 && i < inputs.count; i++) {
		if (path_is_absolute(inputs.items[i]) &&
		    !runtime_is_in_every_image(inputs.items[i]))
			rc = runtime_add_path(runtime, inputs.items[i], false, "link-library", err);
	}
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	return 0;
}

/* Adds the file from the first directory that has it; *found is false when none has. */
static int link_add_from(struct runtime *runtime, const char *const *directories, const char *name,
			 const char *origin, bool *found, struct error *err)
{
	*found = false;
	for (size_t i = 0; directories[i] != NULL; i++) {
		const char *path = builder_path(runtime->node->builder, directories[i], name);
		const char *local = node_local(runtime->node, path);
		struct elf_info info = {0};

		if (!file_exists(local))
			continue;
		*found = true;
		int rc = runtime_add_path(runtime, path, false, origin, err);
		bool is_library = elf_read(local, &info, NULL) == 0;
		elf_info_free(&info);
		if (rc < 0 || is_library || !text_ends_with(name, ".so"))
			return rc;
		return link_add_script_inputs(runtime, path, err);
	}
	return 0;
}

/* Adds the shared form of a library, or else the static one, as `-lNAME` finds it. */
static int link_add_library(struct runtime *runtime, const char *const *directories,
			    const char *name, const char *origin, struct error *err)
{
	struct arena *arena = &runtime->node->builder->arena;
	bool found = false;

	int rc = link_add_from(runtime, directories, arena_format(arena, "lib%s.so", name), origin,
			       &found, err);
	if (rc == 0 && !found)
		rc = link_add_from(runtime, directories, arena_format(arena, "lib%s.a", name),
				   origin, &found, err);
	if (rc == 0 && !found)
		return error_set(err, ERROR_NOT_FOUND, "-l%s: not installed for linking", name);
	return rc;
}

/*
 * What `ld -shared ... -lm -lgcc -lgcc_s -lc` needs where a Clang driver calls it: the linker with
 * its libraries ("linker"), the marks and libraries of the newest GCC ("compiler-library"), and the
 * link-time forms of libm and libc with the files that they name ("link-library").
 */
static int add_link_tools(struct runtime *runtime, struct error *err)
{
	struct builder *builder = runtime->node->builder;
	struct gcc gcc = {0};

	int rc = runtime_add_library(runtime, "/usr/bin/ld", "linker", err);
	if (rc == 0)
		rc = gcc_find(runtime, &gcc, err);
	if (rc < 0)
		return rc;
	const char *multiarch = builder_path(builder, "/usr/lib", gcc.triple);
	const char *const directories[] = {gcc.directory, multiarch, "/usr/lib64", "/usr/lib",
					   NULL};
	rc = runtime_add_path(runtime, builder_path(builder, gcc.directory, "crtbegin.o"), false,
			      "compiler-library", err);
	if (rc == 0)
		rc = link_add_library(runtime, directories, "gcc", "compiler-library", err);
	if (rc == 0)
		rc = link_add_library(runtime, directories, "gcc_s", "compiler-library", err);
	if (rc == 0)
		rc = link_add_library(runtime, directories, "m", "link-library", err);
	if (rc == 0)
		rc = link_add_library(runtime, directories, "c", "link-library", err);
	return rc;
}

int runtime_add_pocl(struct runtime *runtime, const char *library, struct error *err)
{
	static const char *const data[] = {"../../share/pocl", "../share/pocl"};
	const struct places *places = runtime->node->places;
	bool found = false;
	int rc = 0;

	/* Bitcode of the built-in functions and headers: "share/pocl" of the library's prefix, which
	 * PoCL finds from the library's directory. */
	for (size_t i = 0; rc == 0 && !found && i < ARRAY_SIZE(data); i++) {
		const char *path = NULL;
		rc = runtime_path_near(runtime, library, data[i], &path, err);
		found = rc == 0 && places_exist(places, path);
		if (found)
			rc = runtime_add_path(runtime, path, true, "driver-data", err);
	}
	if (rc == 0 && !found)
		rc = error_set(err, ERROR_NOT_FOUND, "%s: no directory share/pocl belongs to it",
			       library);

	/* A library for each device type, loaded by name, in the directory "pocl" next to the library.
	 * Builds with everything in one library have no such directory. */
	const char *directory = NULL;
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (rc == 0)
		rc = runtime_path_near(runtime, library, "pocl", &directory, err);
	if (rc == 0 && places_exist(places, directory))
		rc = file_list(node_local(runtime->node, directory), &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		if (text_glob("libpocl-devices-*.so", names.items[i]))
			rc = runtime_add_library(
				runtime,
				builder_path(runtime->node->builder, directory, names.items[i]),
				"device-library", err);
	}
	return rc == 0 ? add_link_tools(runtime, err) : rc;
}
