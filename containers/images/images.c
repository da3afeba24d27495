/* SPDX-License-Identifier: MIT */
#include "containers/images/internal.h"

#include "base/cleanup.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"

#include <stdlib.h>

#define CLEANUP_CLOSURE CLEANUP(elf_closure_cleanup)

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

int image_layer_content(const struct image_layer *layer, struct image_tree *tree, struct error *err)
{
	static const char *const none[] = {NULL};
	const char *const *programs = layer->programs != NULL ? layer->programs : none;
	struct elf_closure *closure CLEANUP_CLOSURE = NULL;
	int rc = elf_closure_new(NULL, &closure, err);
	if (rc < 0)
		return rc;

	for (size_t i = 0; programs[i] != NULL; i++) {
		char *path CLEANUP_FREE =
			path_join(IMAGES_PROGRAM_DIRECTORY, path_base(programs[i]));
		rc = elf_closure_add(closure, programs[i], err);
		if (rc < 0)
			return error_wrap(err, rc, "program %s", programs[i]);
		rc = image_tree_add(tree, IMAGE_FILE, path, programs[i], 0755, err);
		if (rc < 0)
			return rc;
	}
	rc = image_add_loaded(closure, layer->loaded_libraries, err);

	/* The programs themselves, which the closure also has, were installed elsewhere. */
	for (size_t i = 0; rc == 0 && i < closure->file_count; i++) {
		const struct elf_file *file = &closure->files[i];
		if (programs[text_position(programs, file->destination)] == NULL)
			rc = image_tree_add(tree, IMAGE_FILE, file->destination, file->source, 0755,
					    err);
	}
	return rc;
}

int image_content(const struct image_spec *spec, struct image_tree *tree, struct error *err)
{
	int rc = image_tree_base(tree, err);
	if (rc < 0)
		return rc;
	return image_layer_content(&spec->base, tree, err);
}

static int find_programs(const char *directory, char **out, struct error *err)
{
	if (directory == NULL)
		return path_of_helper(".", out, err);
	*out = memory_copy(directory);
	return 0;
}

/* Sorted, so that the image does not depend on the order of a directory. */
int images_list_probes(const char *program_directory, struct text_list *probes, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *directory CLEANUP_FREE = NULL;
	int rc = find_programs(program_directory, &directory, err);
	if (rc == 0)
		rc = file_list(directory, &names, err);
	text_each (name, &names) {
		if (text_starts_with(name, IMAGES_PROBE_PREFIX))
			text_list_take(probes, path_join(directory, name));
	}
	if (rc == 0 && probes->count == 0)
		return error_set(err, ERROR_NOT_FOUND, "%s: no probe-* programs there", directory);
	return rc;
}

int images_compose(const char *archive, const struct image_spec *probe, bool with_pause,
		   const char *program_directory, struct images *out, struct error *err)
{
	char *directory CLEANUP_FREE = NULL;
	int rc = find_programs(program_directory, &directory, err);
	if (rc < 0)
		return rc;
	char *pause CLEANUP_FREE = path_join(directory, "pause");
	const char *const programs[] = {pause, NULL};
	const char *const command[] = {IMAGES_PROGRAM_DIRECTORY "/pause", NULL};
	const struct image_spec specs[] = {
		*probe,
		{.repository = IMAGES_PAUSE_REFERENCE,
		 .reference = IMAGES_PAUSE_REFERENCE,
		 .base = {.programs = programs},
		 .command = command},
	};
	struct image_description described[ARRAY_SIZE(specs)] = {{0}};
	rc = image_compose(archive, specs, with_pause ? 2 : 1, described, err);
	if (rc < 0)
		return rc;
	*out = (struct images){
		.probe = described[0], .pause = described[1], .archive = memory_copy(archive)};
	return 0;
}

int images_describe_probes(struct image_manifest *out, struct error *err)
{
	struct image_manifest manifest CLEANUP_IMAGE_MANIFEST = {0};
	struct text_list probes CLEANUP_TEXT_LIST = {0};
	int rc = images_list_probes(NULL, &probes, err);
	for (size_t i = 0; rc == 0 && i < probes.count; i++) {
		char *path CLEANUP_FREE =
			path_join(IMAGES_PROGRAM_DIRECTORY, path_base(probes.items[i]));
		rc = image_manifest_add(&manifest, path, probes.items[i], err);
	}
	if (rc < 0)
		return rc;
	*out = STEAL(manifest);
	return 0;
}
