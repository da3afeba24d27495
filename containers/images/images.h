/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Images composed from files of this machine: programs, what the dynamic linker needs to run them,
 * and the API loaders that they open at run time. The result is an archive in the OCI image layout
 * (uncompressed layers), which needs no registry. The same input gives the same bytes and so the
 * same digest: every entry has owner 0, time 0 and a fixed place.
 *
 * Layout of an image:
 *
 *   /libexec/gpucert/PROGRAM        the programs
 *   /lib, /lib64, /bin, /sbin       symbolic links into /usr, as distributions have them
 *   /usr/lib...                     dynamic linker, C library, loaders, at the machine's own places
 *   /etc/passwd, /etc/group         root and nobody
 *   /tmp /var/tmp /root /run /dev /proc /sys  empty
 */

#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"
#include "containers/inspect/manifest.h"

#include <stdbool.h>
#include <stdint.h>

#define IMAGES_PROGRAM_DIRECTORY "/libexec/gpucert"
/* Of a Windows image, which is not composed here: it holds the unpacked ZIP (docs/windows-node.md).
 */
#define IMAGES_WINDOWS_PROGRAM_DIRECTORY "C:\\gpucert\\libexec\\gpucert"
#define IMAGES_PROBE_REPOSITORY		 "docker.io/gpucert/probe"
#define IMAGES_PAUSE_REFERENCE		 "docker.io/gpucert/pause:1"

struct image_tree;

struct image_layer {
	/* NULL-ended absolute host paths; installed under their base name. */
	const char *const *programs;
	/* NULL-ended sonames that the programs open at run time. They come with what they need; one
	 * that this machine lacks is left out. May be NULL. */
	const char *const *loaded_libraries;
};

enum { IMAGE_SPEC_LAYERS_MAX = 8 };

struct image_spec {
	/* "docker.io/gpucert/probe"; the tag is the first 12 digits of the digest. */
	const char *repository;
	const char *reference; /* instead of that; NULL: that */
	/* The lowest layer, which also has what every image needs, and those above it, ended by one
	 * without programs (NULL: none), IMAGE_SPEC_LAYERS_MAX in all. Each depends on its own files and the lowest layer alone, so
	 * images with the same layer share it. */
	struct image_layer base;
	const struct image_layer *layers;
	const char *const *command; /* NULL-ended default command; may be NULL */
	const char *const *labels;  /* NULL-ended pairs of name and value; may be NULL */
	/* What is in the lowest layer, instead of the rules above. NULL: those. `user` is for it. */
	int (*content)(const struct image_spec *spec, struct image_tree *tree, struct error *err);
	const void *user;
};

struct image_description {
	char *reference;		/* "docker.io/gpucert/probe:0123456789ab" */
	char digest[DIGEST_SIZE];	/* of the manifest */
	struct image_manifest manifest; /* of programs and libraries */
	char *os_version; /* the Windows build that it is made for; NULL: none, or not known */
};

/* "REPOSITORY:0123456789ab" for a digest. NULL: out of memory. */
char *image_reference(const char *repository, const char *digest);

void image_description_free(struct image_description *description);

/* Composes `count` images into one archive at `path`. `out` is an array of `count`,
 * zero-initialised descriptions. ERROR_NOT_FOUND: a program is missing. ERROR_FORMAT: a program is
 * not an ELF file. ERROR_IO: disk full and the like. ERROR_EXISTS: `path` is something else than a
 * regular file. On failure what was at `path` stays. */
int image_compose(const char *path, const struct image_spec *specs, size_t count,
		  struct image_description *out, struct error *err);

/* The images of a run. */
struct images {
	struct image_description probe;
	struct image_description pause; /* nothing where the archive is without it */
	char *archive;			/* path */
};

/* Composes an image of probes and `with_pause` the pause image (IMAGES_PAUSE_REFERENCE), which is the
 * program `pause` of `program_directory` (NULL: ../libexec/gpucert beside the running program), into
 * `archive`. Errors of image_compose(). */
int images_compose(const char *archive, const struct image_spec *probe, bool with_pause,
		   const char *program_directory, struct images *out, struct error *err);

struct images_choice {
	const char *program_directory;	  /* NULL: as for images_compose() */
	const struct text_list *families; /* of gpu_api_families; NULL or none: all */
	const char
		*reference; /* of the probe image; NULL: IMAGES_PROBE_REPOSITORY and the digest */
	bool pause;	    /* the pause image, too */
	bool one_layer;	    /* everything in the lowest layer: a runtime unpacks it faster */
};

/*
 * Composes the probe image: probe-visibility in the lowest layer, and a layer for each family with
 * the probe-* programs of `program_directory` that belong to it and the loaders of their APIs; beside
 * probe-ffmpeg the ffmpeg there, where there is one.
 * ERROR_NOT_FOUND: there are no probes, or none of a family; names the directory. ERROR_ARGUMENT: no
 * such family, or not a reference of the form REGISTRY/NAME:TAG.
 */
int images_build(const char *archive, const struct images_choice *choice, struct images *out,
		 struct error *err);

/* All families in one layer, and the pause image, into `directory`/images.tar. Takes less than a
 * tenth of a second, so nothing is cached. */
int images_prepare(const char *directory, const char *program_directory, struct images *out,
		   struct error *err);
/* What an image that was composed elsewhere must hold all the same: the probes of
 * `program_directory` (NULL: as for images_prepare()). ERROR_NOT_FOUND. */
int images_describe_probes(const char *program_directory, struct image_manifest *out,
			   struct error *err);
void images_free(struct images *images);

/* `directory` NULL: ../libexec/gpucert beside the running program. Caller frees *out. */
int images_find_programs(const char *directory, char **out, struct error *err);
