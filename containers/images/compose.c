/* SPDX-License-Identifier: MIT */
#include "containers/images/images.h"

#include "base/cleanup.h"
#include "containers/images/content.h"
#include "containers/images/layout.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG_DIGITS = 12 };

static void layout_images_free(struct layout_image *images, size_t count)
{
	for (size_t i = 0; images != NULL && i < count; i++) {
		if (images[i].layer.file != NULL)
			(void)unlink(images[i].layer.file);
		layout_blob_free(&images[i].layer);
		layout_blob_free(&images[i].config);
		layout_blob_free(&images[i].manifest);
		free(images[i].reference);
	}
	free(images);
}

static int image_write_layer(const struct image_tree *tree, struct layout_blob *layer,
			     struct error *err)
{
	struct tar *tar = NULL;
	int rc = tar_open(layer->file, &tar, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < tree->count; i++)
		rc = tar_add(tar, &tree->entries[i], err);
	if (rc < 0) {
		tar_abandon(tar);
		return rc;
	}
	rc = tar_close(tar, err);
	return rc == 0 ? digest_file(layer->file, layer->digest, &layer->size, err) : rc;
}

static int image_list_files(const struct image_tree *tree, struct text_list *files,
			    struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < tree->count; i++)
		rc = text_list_add(files, tree->entries[i].path, err);
	return rc;
}

static int image_list_content(const struct image_tree *tree, struct image_manifest *manifest,
			      struct error *err)
{
	int rc = 0;

	manifest->complete = true;
	for (size_t i = 0; rc == 0 && i < tree->count; i++) {
		if (tree->entries[i].type == IMAGE_FILE)
			rc = image_manifest_add(manifest, tree->entries[i].path,
						tree->entries[i].content, err);
	}
	return rc;
}

static int image_describe(const struct image_spec *spec, const struct layout_image *image,
			  struct image_description *out, struct error *err)
{
	const char *digits = image->manifest.digest + strlen("sha256:");

	out->reference = spec->tag != NULL
				 ? text_format("%s:%s", spec->repository, spec->tag)
				 : text_format("%s:%.*s", spec->repository, TAG_DIGITS, digits);
	memcpy(out->digest, image->manifest.digest, sizeof(out->digest));
	memcpy(out->layer, image->layer.digest, sizeof(out->layer));
	out->size = image->layer.size;
	return out->reference != NULL ? 0 : error_memory(err);
}

static int image_make(const char *archive, size_t index, const struct image_spec *spec,
		      struct layout_image *image, struct image_description *out, struct error *err)
{
	struct image_tree tree CLEANUP_IMAGE_TREE = {0};
	int rc = spec->content != NULL ? spec->content(spec, &tree, &out->missing, err)
				       : image_content(spec, &tree, &out->missing, err);

	if (rc < 0)
		return rc;
	image_tree_sort(&tree);
	rc = image_list_files(&tree, &out->files, err);
	rc = rc == 0 ? image_list_content(&tree, &out->manifest, err) : rc;
	if (rc < 0)
		return rc;
	image->layer.file = text_format("%s.layer%zu", archive, index);
	if (image->layer.file == NULL)
		return error_memory(err);
	if ((rc = image_write_layer(&tree, &image->layer, err)) < 0 ||
	    (rc = layout_config(spec, &image->layer, &image->config, err)) < 0 ||
	    (rc = layout_manifest(&image->config, &image->layer, &image->manifest, err)) < 0 ||
	    (rc = image_describe(spec, image, out, err)) < 0)
		return rc;
	image->reference = strdup(out->reference);
	return image->reference != NULL ? 0 : error_memory(err);
}

int image_compose(const char *path, const struct image_spec *specs, size_t count,
		  struct image_description *out, struct error *err)
{
	struct layout_image *images = calloc(count, sizeof(*images));
	int rc = 0;

	if (images == NULL)
		return error_memory(err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = image_make(path, i, &specs[i], &images[i], &out[i], err);
		if (rc < 0)
			error_wrap(err, rc, "image %s", specs[i].repository);
	}
	if (rc == 0)
		rc = layout_write(path, images, count, err);
	layout_images_free(images, count);
	if (rc == 0)
		return 0;
	(void)unlink(path);
	for (size_t i = 0; i < count; i++)
		image_description_free(&out[i]);
	return rc;
}
