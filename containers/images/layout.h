/* SPDX-License-Identifier: MIT */
#pragma once

/* The JSON documents of an image (OCI image specification 1.0) and the archive that holds them.
 * Internal to images/. */

#include "base/digest.h"
#include "containers/images/images.h"
#include "containers/images/tar.h"

#include <stdint.h>

#define MEDIA_TYPE_INDEX    "application/vnd.oci.image.index.v1+json"
#define MEDIA_TYPE_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define MEDIA_TYPE_CONFIG   "application/vnd.oci.image.config.v1+json"
#define MEDIA_TYPE_LAYER    "application/vnd.oci.image.layer.v1.tar"

/* Bytes that are stored under their digest. */
struct layout_blob {
	char *data; /* NULL: the content of `file` */
	char *file;
	unsigned long long size;
	char digest[DIGEST_SIZE];
};

void layout_blob_free(struct layout_blob *blob);

/* The machine's name in image configurations: "amd64" for "x86_64". ERROR_UNSUPPORTED names it. */
int layout_architecture(const char *machine, const char **out, struct error *err);

/* Image configuration: environment, command, the one layer. */
int layout_config(const struct image_spec *spec, const struct layout_blob *layer,
		  struct layout_blob *out, struct error *err);
int layout_manifest(const struct layout_blob *config, const struct layout_blob *layer,
		    struct layout_blob *out, struct error *err);

struct layout_image {
	struct layout_blob layer, config, manifest;
	char *reference;
};

/* oci-layout, index.json and the blobs, each blob once, in the order of their digests. */
int layout_write(const char *path, const struct layout_image *images, size_t count,
		 struct error *err);
