/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * An image as its registry, layout, archive or store describes it: the manifest and the image
 * configuration of one platform (OCI image-spec v1.1, manifest.md and config.md; Docker's schema 2
 * has the same members).
 */

#include "base/arena.h"
#include "base/digest.h"

#include <stdint.h>

/* Of one platform, as an index or an image configuration names it. What is not told is "". */
struct image_platform {
	const char *os;		  /* "linux", "windows" */
	const char *architecture; /* "amd64" */
	const char *variant;	  /* "v3" */
	const char *os_version;	  /* "10.0.20348.2582": Windows */
	const char *const *os_features;
	size_t os_feature_count; /* "win32k" */
};

/* A name and its value: a label, an annotation, a variable. */
struct image_pair {
	const char *name, *value;
};

struct image_descriptor {
	const char *media_type;
	const char *digest; /* "sha256:..." */
	uint64_t size;	    /* bytes as stored; what the descriptor claims */
};

/* Everything belongs to `arena`. */
struct image {
	struct arena arena;
	const char *reference; /* as it was asked for */
	const char *digest;    /* of the manifest */
	struct image_platform platform;
	struct image_pair *labels, *annotations, *environment;
	size_t label_count, annotation_count, environment_count;
	const char **entrypoint, **command;
	size_t entrypoint_count, command_count;
	struct image_descriptor *layers; /* the lowest first */
	size_t layer_count;
};

#define CLEANUP_IMAGE __attribute__((cleanup(image_free)))

void image_free(struct image *image);
