/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * An image as its registry, layout, archive or store describes it: the manifest and the image
 * configuration of one platform (OCI image-spec v1.1, manifest.md and config.md; Docker's schema 2
 * has the same members).
 */

#include "base/arena.h"
#include "base/digester.h"
#include "base/json_members.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* Limits for an index, a manifest or a configuration (distribution-spec v1.1, "Pushing Manifests":
 * registries should accept 4 MiB). */
enum {
	IMAGE_DOCUMENT_MAX = 4 * 1024 * 1024,
	IMAGE_VALUES_MAX = 200000, /* JSON values in one */
	IMAGE_LAYERS_MAX =
		4000, /* runtimes allow 127 for images; artifacts have one for each file */
};

/* Of one platform, as an index or an image configuration names it. Unknown values are "". */
struct image_platform {
	const char *os;		  /* "linux", "windows" */
	const char *architecture; /* "amd64" */
	const char *variant;	  /* "v3" */
	const char *os_version;	  /* "10.0.20348.2582": Windows */
};

struct image_descriptor {
	const char *media_type;
	const char *digest; /* "sha256:..." */
	uint64_t size;	    /* bytes as stored; what the descriptor claims */
	const char *title;  /* its file name, from its annotation; "": none. NULL when not read from
			     * a manifest */
};

#define OCI_TITLE "org.opencontainers.image.title"

/* Everything belongs to `arena`. */
struct image {
	struct arena arena;
	const char *reference;	   /* as requested */
	const char *digest;	   /* of the manifest */
	const char *artifact_type; /* type of an artifact that is not an image; "": an image */
	struct image_platform platform;
	struct json_pair *labels, *annotations, *environment;
	size_t label_count, annotation_count, environment_count;
	const char **entrypoint, **command;
	size_t entrypoint_count, command_count;
	struct image_descriptor *layers; /* the lowest first */
	size_t layer_count;
};

/* One entry of an index, which may be an index again. */
struct image_index_entry {
	struct image_descriptor descriptor;
	const char *artifact_type; /* "": an image, or unknown */
	struct image_platform platform;
	struct json_pair *annotations;
	size_t annotation_count;
};

/* Everything belongs to `arena`. */
struct image_index {
	struct arena arena;
	struct image_index_entry *entries; /* in the order of the document */
	size_t count;
};

#define CLEANUP_IMAGE	    __attribute__((cleanup(image_free)))
#define CLEANUP_IMAGE_INDEX __attribute__((cleanup(image_index_free)))

void image_free(struct image *image);
void image_index_free(struct image_index *index);

/* The value of a label, an annotation or a variable; NULL: absent. */
const char *image_pair_value(const struct json_pair *pairs, size_t count, const char *name);

/* The program that a container of the image starts, as its configuration names it; "": none. */
const char *image_program(const struct image *image);
/* Is it this file? */
bool image_starts(const struct image *image, const char *path);

/* Media types: of an index (Docker's: manifest list), of an image's manifest. */
bool image_media_type_is_index(const char *media_type);
bool image_media_type_is_manifest(const char *media_type);

#define OCI_INDEX    "application/vnd.oci.image.index.v1+json"
#define OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"

/* The members of a descriptor. */
void image_descriptor_write(struct members *out, const char *media_type, const char *digest,
			    uint64_t size);

/* The types that a request for a manifest accepts, separated by commas. */
extern const char image_media_types[];

/*
 * Reading the documents. Text is untrusted: digests, sizes and types are checked, unknown
 * members are ignored. ERROR_FORMAT names the place; ERROR_LIMIT: more than the numbers above.
 */

/* JSON of at most IMAGE_DOCUMENT_MAX bytes. Caller owns *out. */
int image_document_parse(const char *data, size_t size, cJSON **out, struct error *err);

/*
 * The media type of an index or a manifest: its own member "mediaType", else `promised`, which the
 * registry or a descriptor stated (NULL: neither), else by its members. A document that has the members
 * of both or contradicts its type is ERROR_FORMAT (CVE-2021-41190). ERROR_UNSUPPORTED: Docker's
 * schema 1, and types that are neither.
 */
int image_document_type(const cJSON *document, const char *promised, const char **out,
			struct error *err);

/* Adds an entry, whose strings are borrowed. */
void image_index_add(struct image_index *index, const struct image_index_entry *entry);

/* Adds the entries of an index. */
int image_index_read(const cJSON *document, struct image_index *index, struct error *err);

/* Layers, annotations, type; `configuration` describes the rest. */
int image_manifest_read(const cJSON *document, struct image *image,
			struct image_descriptor *configuration, struct error *err);

/* Platform, labels, environment, entry point and command. */
int image_configuration_read(const cJSON *document, struct image *image, struct error *err);

/* "linux/amd64/v3", "windows/amd64 10.0.20348.2582"; "unknown" when it names neither. */
const char *image_platform_name(const struct image_platform *platform, struct arena *arena);

/*
 * The entry for a platform: the same system and architecture; among several variants the highest that
 * is not above the wanted one ("": any for arm, v1 for amd64); on Windows, when `wanted` has a
 * version, the first of the same build. Entries without a platform match when no other does. Callers
 * with other rules search the entries themselves. `wanted` NULL: the only one. ERROR_NOT_FOUND: none;
 * the text lists those that exist; ERROR_ARGUMENT: `wanted` is NULL and there are several.
 */
int image_index_choose(const struct image_index *index, const struct image_platform *wanted,
		       const struct image_index_entry **out, struct error *err);
