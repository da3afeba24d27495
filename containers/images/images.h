/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Composes images from files of this machine: programs, the dynamic linker and libraries that they
 * need, and the API loaders that they open at run time. The result is an archive in the OCI image
 * layout (uncompressed layers), which needs no registry. Composing is reproducible: the same input
 * results in the same bytes and digest, because every entry has owner 0, time 0 and a fixed place.
 *
 * Layout of an image:
 *
 *   /libexec/gpucert/PROGRAM        the programs
 *   /lib, /lib64, /bin, /sbin       symbolic links into /usr, as in distributions
 *   /usr/lib...                     dynamic linker, C library, loaders, at their paths on this machine
 *   /etc/passwd, /etc/group         root and nobody
 *   /tmp /var/tmp /root /run /dev /proc /sys  empty
 */

#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"
#include "containers/inspect/manifest.h"

#include <stdbool.h>

#define IMAGES_PROGRAM_DIRECTORY "/libexec/gpucert"
/* The same folder in a Windows image, which is not composed here: it contains the unpacked ZIP
 * (docs/windows-node.md). */
#define IMAGES_WINDOWS_PROGRAM_DIRECTORY "C:\\gpucert\\libexec\\gpucert"
#define IMAGES_PROBE_REPOSITORY		 "docker.io/gpucert/probe"
#define IMAGES_PAUSE_REFERENCE		 "docker.io/gpucert/pause:1"

struct image_tree;

struct image_layer {
	/* NULL-ended absolute host paths; installed under their base name. */
	const char *const *programs;
	/* NULL-ended sonames that the programs open at run time; added with their needs. Libraries that
	 * this machine lacks are left out. May be NULL. */
	const char *const *loaded_libraries;
};

enum { IMAGE_SPEC_LAYERS_MAX = 8 };

struct image_spec {
	/* "docker.io/gpucert/probe"; the tag is the first 12 digits of the digest. */
	const char *repository;
	const char *reference; /* NULL: the repository and that tag */
	/* The lowest layer, which also has the files that every image needs, and the layers above it, ended
	 * by one without programs (NULL: none), IMAGE_SPEC_LAYERS_MAX in all. Each depends only on its own
	 * files and the lowest layer, so that images can share it. */
	struct image_layer base;
	const struct image_layer *layers;
	const char *const *command; /* NULL-ended default command; may be NULL */
	const char *const *labels;  /* NULL-ended pairs of name and value; may be NULL */
	/* Fills the lowest layer instead of the rules above; NULL: use these rules. `user` is its argument. */
	int (*content)(const struct image_spec *spec, struct image_tree *tree, struct error *err);
	const void *user;
};

struct image_description {
	char *reference;		/* "docker.io/gpucert/probe:0123456789ab" */
	char digest[DIGEST_SIZE];	/* of the manifest */
	struct image_manifest manifest; /* of programs and libraries */
	char *os_version; /* the Windows build that it is for; NULL: none, or unknown */
};

/* "REPOSITORY:0123456789ab" for a digest. Caller frees. */
char *image_reference(const char *repository, const char *digest);

void image_description_free(struct image_description *description);

/* Composes `count` images into one archive at `path`. `out` is an array of `count`,
 * zero-initialised descriptions. ERROR_NOT_FOUND: a program is missing. ERROR_FORMAT: a program is
 * not an ELF file. ERROR_IO: disk full and the like. ERROR_EXISTS: `path` exists and is not a
 * regular file. On failure a file at `path` stays as it was. */
int image_compose(const char *path, const struct image_spec *specs, size_t count,
		  struct image_description *out, struct error *err);

/* The images of a run. */
struct images {
	struct image_description probe;
	struct image_description pause; /* empty when the archive is without it */
	char *archive;			/* path */
};

/* Composes an image of probes and, `with_pause`, the pause image (IMAGES_PAUSE_REFERENCE), which is the
 * program `pause` of `program_directory` (NULL: ../libexec/gpucert next to the running program), into
 * `archive`. Errors of image_compose(). */
int images_compose(const char *archive, const struct image_spec *probe, bool with_pause,
		   const char *program_directory, struct images *out, struct error *err);

struct images_choice {
	const char *program_directory;	  /* NULL: as for images_compose() */
	const struct text_list *families; /* of gpu_api_families; NULL or none: all */
	const char *
		reference; /* of the probe image; NULL: IMAGES_PROBE_REPOSITORY and a tag from the digest */
	bool pause;	/* also compose the pause image */
	bool one_layer; /* everything in the lowest layer: a runtime unpacks it faster */
};

/*
 * Composes the probe image: probe-visibility in the lowest layer, and a layer for each family with
 * its probe-* programs of `program_directory` and the loaders of their APIs; with probe-ffmpeg also the
 * ffmpeg next to it, if there is one.
 * ERROR_NOT_FOUND: no probes, or none of a family; names the directory. ERROR_ARGUMENT: unknown family,
 * or not a reference of the form REGISTRY/NAME:TAG.
 */
int images_build(const char *archive, const struct images_choice *choice, struct images *out,
		 struct error *err);

/* Composes all families in one layer, and the pause image, into `directory`/images.tar, in less than a
 * tenth of a second; so nothing is cached. */
int images_prepare(const char *directory, const char *program_directory, struct images *out,
		   struct error *err);
/* The files that an image composed elsewhere must also hold: the probes of ../libexec/gpucert.
 * ERROR_NOT_FOUND. */
int images_describe_probes(struct image_manifest *out, struct error *err);
void images_free(struct images *images);
