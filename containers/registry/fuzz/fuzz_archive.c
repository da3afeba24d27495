/* SPDX-License-Identifier: MIT */
/* An image archive, read until an error. */
#include "containers/registry/image_source.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *directory;

static void remove_directory(void)
{
	(void)file_remove_tree(directory, NULL);
	free(directory);
}

static const char *file_of(const uint8_t *data, size_t size)
{
	static char *path;
	if (path == NULL && file_make_temporary(NULL, "gpucert-fuzz-", &directory, NULL) == 0) {
		path = path_join(directory, "archive");
		(void)atexit(remove_directory);
	}
	FILE *file CLEANUP_FILE = path != NULL ? fopen(path, "wb") : NULL;
	return file != NULL && fwrite(data, 1, size, file) == size ? path : NULL;
}

static void read_layers(struct image_source *source, const struct image *image)
{
	for (size_t i = 0; i < image->layer_count && i < 4; i++) {
		struct blob_reader *stream CLEANUP_BLOB_READER = NULL;
		char chunk[4096];
		size_t count = 0;
		if (image_source_open_layer(source, &image->layers[i], &stream, NULL) < 0)
			continue;
		while (stream->read(stream, chunk, sizeof(chunk), &count, NULL) == 0 && count > 0)
			;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	const char *path = file_of(data, size);
	char *string CLEANUP_FREE = path != NULL ? text_format("oci-archive:%s", path) : NULL;
	if (string != NULL && image_source_open(string, NULL, &source, NULL) == 0 &&
	    image_source_load(source, NULL, &image, NULL) == 0)
		read_layers(source, &image);
	return 0;
}
