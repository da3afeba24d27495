/* SPDX-License-Identifier: MIT */
/* Which files an image needs. */
#include "base/cleanup.h"
#include "base/elf.h"
#include "base/path.h"
#include "containers/images/internal.h"

#include <string.h>

#define CLEANUP_CLOSURE CLEANUP(elf_closure_cleanup)

static int add_programs(const struct image_spec *spec, struct elf_closure *closure,
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
static int add_closure(const struct image_spec *spec, const struct elf_closure *closure,
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

int image_add_loaded(struct elf_closure *closure, const char *const *names, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && names != NULL && names[i] != NULL; i++) {
		char *path CLEANUP_FREE = NULL;
		rc = elf_closure_find(closure, names[i], &path, err);
		rc = rc == ERROR_NOT_FOUND ? 0 : rc;
		if (rc == 0 && path != NULL)
			rc = elf_closure_add(closure, path, err);
	}
	return rc;
}

int image_content(const struct image_spec *spec, struct image_tree *tree, struct error *err)
{
	struct elf_closure *closure CLEANUP_CLOSURE = elf_closure_new(NULL, err);
	if (closure == NULL)
		return err != NULL ? err->code : ERROR_MEMORY;
	int rc = image_tree_base(tree, err);
	if (rc == 0)
		rc = add_programs(spec, closure, tree, err);
	if (rc == 0)
		rc = image_add_loaded(closure, spec->loaded_libraries, err);
	return rc == 0 ? add_closure(spec, closure, tree, err) : rc;
}
