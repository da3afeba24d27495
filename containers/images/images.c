/* SPDX-License-Identifier: MIT */
#include "containers/images/images.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/gpu_apis.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

/* Sorted, so that the image does not depend on the order of a directory. */
static int images_list_probes(const char *directory, struct text_list *probes, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = file_list(directory, &names, err);

	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		if (text_starts_with(names.items[i], "probe-"))
			rc = text_list_take(probes, path_join(directory, names.items[i]), err);
	}
	if (rc == 0 && probes->count == 0)
		return error_set(err, ERROR_NOT_FOUND, "%s: no probe-* programs there", directory);
	return rc;
}

/* What probes open at run time; drivers come from the device plugin. */
static int images_list_loaders(struct text_list *loaders, struct error *err)
{
	int rc = 0;

	for (const struct gpu_api *api = gpu_apis; rc == 0 && api->name != NULL; api++) {
		if (api->loader != NULL)
			rc = text_list_add(loaders, api->loader, err);
	}
	return rc;
}

static int images_compose(const char *program_directory, struct images *images, struct error *err)
{
	struct text_list probes CLEANUP_TEXT_LIST = {0};
	struct text_list loaders CLEANUP_TEXT_LIST = {0};
	char *pause CLEANUP_FREE = path_join(program_directory, "pause");
	const char *const pause_programs[] = {pause, NULL};
	const char *const pause_command[] = {IMAGES_PROGRAM_DIRECTORY "/pause", NULL};
	struct image_description described[2] = {{0}};
	struct image_spec specs[2] = {
		{.repository = IMAGES_PROBE_REPOSITORY},
		{
			.repository = IMAGES_PAUSE_REPOSITORY,
			.tag = IMAGES_PAUSE_TAG,
			.programs = pause_programs,
			.command = pause_command,
		},
	};
	int rc = pause != NULL ? images_list_probes(program_directory, &probes, err)
			       : error_memory(err);

	if (rc == 0)
		rc = images_list_loaders(&loaders, err);
	if (rc < 0)
		return rc;
	specs[0].programs = (const char *const *)probes.items;
	specs[0].loaded_libraries = (const char *const *)loaders.items;
	rc = image_compose(images->archive, specs, ARRAY_SIZE(specs), described, err);
	if (rc < 0)
		return rc;
	images->probe = described[0];
	images->pause = described[1];
	return 0;
}

int images_describe_probes(const char *program_directory, struct image_manifest *out,
			   struct error *err)
{
	struct image_manifest manifest CLEANUP_IMAGE_MANIFEST = {0};
	struct text_list probes CLEANUP_TEXT_LIST = {0};
	char *beside CLEANUP_FREE = NULL;
	int rc = program_directory == NULL ? path_beside_program("../libexec/gpucert", &beside, err)
					   : 0;

	if (rc == 0)
		rc = images_list_probes(program_directory != NULL ? program_directory : beside,
					&probes, err);
	for (size_t i = 0; rc == 0 && i < probes.count; i++) {
		char *path CLEANUP_FREE =
			path_join(IMAGES_PROGRAM_DIRECTORY, path_base(probes.items[i]));

		rc = path != NULL ? image_manifest_add(&manifest, path, probes.items[i], err)
				  : error_memory(err);
	}
	if (rc < 0)
		return rc;
	*out = manifest;
	manifest = (struct image_manifest){0};
	return 0;
}

int images_prepare(const char *directory, const char *program_directory, struct images *out,
		   struct error *err)
{
	char *beside CLEANUP_FREE = NULL;
	struct images images = {0};
	int rc = 0;

	if (program_directory == NULL)
		rc = path_beside_program("../libexec/gpucert", &beside, err);
	if (rc < 0)
		return rc;
	images.archive = path_join(directory, "images.tar");
	rc = images.archive != NULL
		     ? images_compose(program_directory != NULL ? program_directory : beside,
				      &images, err)
		     : error_memory(err);
	if (rc < 0) {
		images_free(&images);
		return rc;
	}
	*out = images;
	return 0;
}
