/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The known content of an image: its programs, the dynamic linker and the libraries that they need,
 * each with its digest. Composing an image creates a manifest, which is stored as a JSON file.
 */

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct image_manifest_file {
	const char *path; /* absolute, in the container */
	const char *digest;
};

struct image_manifest {
	struct arena arena;		   /* owns everything */
	struct image_manifest_file *files; /* in the order of adding */
	size_t count;
	bool complete; /* the image has no other program and no other library */
};

#define CLEANUP_IMAGE_MANIFEST __attribute__((cleanup(image_manifest_free)))
void image_manifest_free(struct image_manifest *manifest);

/* Adds a file with the digest of `source`, a file of the host. Errors of digest_file(). */
int image_manifest_add(struct image_manifest *manifest, const char *path, const char *source,
		       struct error *err);

/* NULL: no such file. By path; by content. */
const struct image_manifest_file *image_manifest_find(const struct image_manifest *manifest,
						      const char *path);
const struct image_manifest_file *image_manifest_holds(const struct image_manifest *manifest,
						       const char *digest);

/* {"complete": true, "files": [{"path": "/libexec/gpucert/probe-vulkan", "digest": "sha256:..."},
 * ...]}. ERROR_FORMAT names the place. */
int image_manifest_write(const struct image_manifest *manifest, const char *path,
			 struct error *err);
int image_manifest_load(const char *path, struct image_manifest *out, struct error *err);
