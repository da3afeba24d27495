/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as the layer of an image, read twice as if they were two layers: contents that can be written as
 * JSON, or an error. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/judging/contents/contents.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *directory;

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void remove_directory(void)
{
	(void)file_remove_tree(directory, NULL);
	free(directory);
}

static void put(const char *name, const void *data, size_t size)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	FILE *file CLEANUP_FILE = fopen(path, "wb");
	require(file != NULL && fwrite(data, 1, size, file) == size);
}

/* A layout without an image, whose blobs exist nevertheless. */
static void make_layout(void)
{
	static const char layout[] = "{\"imageLayoutVersion\": \"1.0.0\"}";
	static const char index[] = "{\"schemaVersion\": 2, \"manifests\": []}";
	require(file_make_temporary(NULL, "gpucert-fuzz-", &directory, NULL) == 0);
	(void)atexit(remove_directory);
	char *blobs CLEANUP_FREE = path_join(directory, "blobs/sha256");
	require(file_make_directories(blobs, 0700, NULL) == 0);
	put("oci-layout", layout, strlen(layout));
	put("index.json", index, strlen(index));
}

static void check_contents(const struct image_contents *contents)
{
	cJSON *json CLEANUP_JSON = image_contents_json(contents);
	require(json != NULL);
	for (size_t i = 0; i < contents->library_count; i++) {
		const char *path = contents->libraries[i].path;
		require(path[0] != '\0' && strstr(path, "/../") == NULL);
		require(contents->libraries[i].layer < 2);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image_contents contents CLEANUP_IMAGE_CONTENTS = {0};
	struct error err = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	if (directory == NULL)
		make_layout();
	digest_bytes(data, size, digest);
	char *blob CLEANUP_FREE = text_format("blobs/sha256/%s", digest + sizeof("sha256"));
	char *string CLEANUP_FREE = text_format("oci:%s", directory);
	char *path CLEANUP_FREE = path_join(directory, blob);
	put(blob, data, size);
	struct image_descriptor layers[] = {
		{"application/vnd.oci.image.layer.v1.tar", digest, size, NULL},
		{"application/vnd.oci.image.layer.v1.tar+gzip", digest, size, NULL},
	};
	const struct image image = {.reference = "fuzz",
				    .digest = "",
				    .artifact_type = "",
				    .platform = {"linux", "amd64", "", ""},
				    .layers = layers,
				    .layer_count = 2};
	require(image_source_open(string, NULL, &source, NULL) == 0);
	int rc = image_contents_read(source, &image, NULL, &contents, &err);
	require(rc == 0 || (rc == err.code && err.text[0] != '\0'));
	if (rc == 0)
		check_contents(&contents);
	require(remove(path) == 0);
	return 0;
}
