/* SPDX-License-Identifier: MIT */
#include "containers/images/content.h"

#include "base/cleanup.h"
#include "base/elf.h"
#include "base/path.h"

#include <string.h>

#define CLEANUP_CLOSURE CLEANUP(elf_closure_cleanup)

/* Where loaders live besides the directories that the programs' own libraries come from. */
static const char *const library_directories[] = {"/usr/local/lib", "/usr/lib64", "/lib64",
						  "/usr/lib", "/lib"};

static int content_add_programs(const struct image_spec *spec, struct elf_closure *closure,
				struct image_tree *tree, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && spec->programs[i] != NULL; i++) {
		const char *source = spec->programs[i];
		char *path CLEANUP_FREE = path_join(IMAGES_PROGRAM_DIRECTORY, path_base(source));

		if (path == NULL)
			return error_memory(err);
		rc = elf_closure_add(closure, source, err);
		if (rc < 0)
			return error_wrap(err, rc, "program %s", source);
		rc = image_tree_add(tree, IMAGE_FILE, path, source, 0755, err);
	}
	return rc;
}

/* Files of the closure but the programs themselves, which have a place of their own. */
static int content_add_closure(const struct image_spec *spec, const struct elf_closure *closure,
			       struct image_tree *tree, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < closure->file_count; i++) {
		const struct elf_file *file = &closure->files[i];
		bool is_program = false;

		for (size_t at = 0; spec->programs[at] != NULL; at++)
			is_program =
				is_program || strcmp(spec->programs[at], file->destination) == 0;
		if (!is_program)
			rc = image_tree_add(tree, IMAGE_FILE, file->destination, file->source, 0755,
					    err);
	}
	return rc;
}

static int content_list_directories(const struct elf_closure *closure, struct text_list *out,
				    struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < closure->file_count; i++) {
		char *directory CLEANUP_FREE = path_directory(closure->files[i].destination);

		if (directory == NULL)
			return error_memory(err);
		if (!text_list_has(out, directory))
			rc = text_list_add(out, directory, err);
	}
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(library_directories); i++)
		rc = text_list_add(out, library_directories[i], err);
	return rc;
}

static bool content_is_library_for(const char *path, const struct elf_info *program)
{
	struct elf_info library = {0};
	bool fits = false;

	if (elf_read(path, &library, NULL) < 0)
		return false;
	fits = library.bits == program->bits && library.machine == program->machine;
	elf_info_free(&library);
	return fits;
}

/* *path stays NULL when no directory has it for this machine. */
static int content_find_library(const char *name, const struct text_list *directories,
				const struct elf_info *program, char **path, struct error *err)
{
	for (size_t i = 0; i < directories->count; i++) {
		char *candidate CLEANUP_FREE = path_join(directories->items[i], name);

		if (candidate == NULL)
			return error_memory(err);
		if (content_is_library_for(candidate, program)) {
			*path = STEAL(candidate);
			return 0;
		}
	}
	return 0;
}

static int content_add_loaded(const struct image_spec *spec, struct elf_closure *closure,
			      struct text_list *missing, struct error *err)
{
	struct text_list directories CLEANUP_TEXT_LIST = {0};
	struct elf_info program = {0};
	int rc = 0;

	if (spec->loaded_libraries == NULL || spec->programs[0] == NULL)
		return 0;
	rc = content_list_directories(closure, &directories, err);
	if (rc == 0)
		rc = elf_read(spec->programs[0], &program, err);
	for (size_t i = 0; rc == 0 && spec->loaded_libraries[i] != NULL; i++) {
		char *path CLEANUP_FREE = NULL;

		rc = content_find_library(spec->loaded_libraries[i], &directories, &program, &path,
					  err);
		if (rc == 0 && path == NULL)
			rc = text_list_add(missing, spec->loaded_libraries[i], err);
		else if (rc == 0)
			rc = elf_closure_add(closure, path, err);
	}
	elf_info_free(&program);
	return rc;
}

static int content_list_missing(const struct elf_closure *closure, struct text_list *missing,
				struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < closure->missing_count; i++) {
		if (!text_list_has(missing, closure->missing[i].name))
			rc = text_list_add(missing, closure->missing[i].name, err);
	}
	return rc;
}

int image_content(const struct image_spec *spec, struct image_tree *tree, struct text_list *missing,
		  struct error *err)
{
	struct elf_closure *closure CLEANUP_CLOSURE = elf_closure_new(NULL, err);
	int rc = 0;

	if (closure == NULL)
		return err != NULL ? err->code : ERROR_MEMORY;
	rc = image_tree_base(tree, err);
	rc = rc == 0 ? content_add_programs(spec, closure, tree, err) : rc;
	rc = rc == 0 ? content_add_loaded(spec, closure, missing, err) : rc;
	rc = rc == 0 ? content_add_closure(spec, closure, tree, err) : rc;
	return rc == 0 ? content_list_missing(closure, missing, err) : rc;
}
