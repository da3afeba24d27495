/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * registry/ holds the sources of images: registries (OCI distribution-spec v1.1), the content cache
 * and, behind one interface, folders, archives and stores.
 *
 * 	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
 * 	struct image image CLEANUP_IMAGE = {0};
 * 	struct blob_reader *layer CLEANUP_BLOB_READER = NULL;
 * 	image_source_open("oci:layout:tag", &options, &source, err);
 * 	image_source_load(source, &platform, &image, err);
 * 	image_source_open_layer(source, &image.layers[0], &layer, err);
 * 	while ((rc = layer->read(layer, chunk, sizeof(chunk), &count, err)) == 0 && count > 0)
 *
 * Everything that is read is compared with its digest and size. Nothing is unpacked to disk, and only
 * a buffer of a layer is in memory.
 */

#include "containers/registry/image.h"
#include "containers/registry/registry.h"

struct image_source;

struct image_source_options {
	/* Where blobs of registries are kept (content_cache.h). NULL: cache_directory(). */
	const char *cache_directory;
	bool no_cache;
	struct registry_options registry;
	const char *containerd_root;	/* NULL: "/var/lib/containerd" */
	const char *containerd_address; /* NULL: "unix:///run/containerd/containerd.sock" */
};

#define CLEANUP_IMAGE_SOURCE __attribute__((cleanup(image_source_close)))

/*
 * Opens the source that a string names:
 *
 *	docker://HOST/NAME[:TAG][@DIGEST]	a registry; also without "docker://" (reference.h)
 *	oci:DIRECTORY[:TAG][@DIGEST]		an OCI image layout (image-layout.md)
 *	oci-archive:FILE[:TAG][@DIGEST]		a tar file of one, also compressed
 *	docker-archive:FILE[:NAME:TAG]		what `docker save` wrote (since version 25): the same
 *	containerd:NAME				what containerd keeps for Kubernetes; asks its CRI
 *	containerd:DIGEST			an index or a manifest in its content store, without CRI
 *
 * TAG is the annotation
 * "org.opencontainers.image.ref.name", or the whole name that Docker and containerd write. No
 * registry is contacted yet. `options` NULL: all defaults; they are needed during the call, strings in
 * `registry` as long as the source.
 *
 * ERROR_ARGUMENT: not one of these; ERROR_NOT_FOUND: no such folder, file, tag or image; lists
 * the tags that exist; ERROR_FORMAT: not a layout or archive; ERROR_LIMIT; ERROR_PERMISSION;
 * ERROR_UNSUPPORTED: a kind that this system does not offer; those of cri_image_status_wait().
 */
int image_source_open(const char *string, const struct image_source_options *options,
		      struct image_source **out, struct error *err);
void image_source_close(struct image_source **source);

/*
 * The entries of its index, nested indexes expanded (at most 4 deep, 100 documents, each
 * once). A source without an index has one entry, which may name no platform. Borrowed; read once.
 */
int image_source_index(struct image_source *source, const struct image_index **out,
		       struct error *err);

/* The image for a platform (image_index_choose()). ERROR_UNSUPPORTED: it is an artifact, not an
 * image. Errors of all reading: those of registry.h; ERROR_PROTOCOL: digest or size are not as
 * promised; ERROR_NOT_FOUND: the source lacks the blob. */
int image_source_load(struct image_source *source, const struct image_platform *wanted,
		      struct image *out, struct error *err);

/* Loads one entry of image_source_index(). An artifact has no platform, environment or labels. */
int image_source_load_entry(struct image_source *source, const struct image_index_entry *entry,
			    struct image *out, struct error *err);

/* The referrers of a manifest in a registry, with an artifact of a type (registry_list_referrers()); `digest`
 * NULL: of the index that the source's name stands for, if it is one. Other sources have none. */
int image_source_referrers(struct image_source *source, const char *digest,
			   const char *artifact_type, struct image_index *out, struct error *err);

/* The bytes of a blob as they are stored; the caller decompresses them. The end comes only when digest and size were right:
 * do not trust the bytes until then. A failure stays. */
int image_source_open_layer(struct image_source *source, const struct image_descriptor *layer,
			    struct blob_reader **out, struct error *err);
