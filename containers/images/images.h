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
#define IMAGES_PAUSE_REPOSITORY		 "docker.io/gpucert/pause"
#define IMAGES_PAUSE_TAG		 "1"
#define IMAGES_PAUSE_REFERENCE		 IMAGES_PAUSE_REPOSITORY ":" IMAGES_PAUSE_TAG

struct image_tree;

struct image_spec {
	/* "docker.io/gpucert/probe"; the tag is the first 12 digits of the digest unless `tag` says
	 * otherwise. */
	const char *repository;
	const char *tag;
	/* NULL-ended absolute host paths; installed under their base name. */
	const char *const *programs;
	/* NULL-ended sonames that the programs open at run time. They come with what they need; one
	 * that this machine lacks is left out and listed in `missing`. May be NULL. */
	const char *const *loaded_libraries;
	const char *const *command; /* NULL-ended default command; may be NULL */
	/* What is in the image, instead of the rules above. NULL: those. `user` is for it. */
	int (*content)(const struct image_spec *spec, struct image_tree *tree,
		       struct text_list *missing, struct error *err);
	const void *user;
};

struct image_description {
	char *reference;		/* "docker.io/gpucert/probe:0123456789ab" */
	char digest[DIGEST_SIZE];	/* of the manifest */
	char layer[DIGEST_SIZE];	/* of the only layer */
	uint64_t size;			/* bytes of the layer */
	struct text_list files;		/* paths in the image, sorted */
	struct image_manifest manifest; /* of programs and libraries */
	struct text_list missing;	/* libraries that the machine lacks */
	char *os_version; /* the Windows build that it is made for; NULL: none, or not known */
};

void image_description_free(struct image_description *description);

/* Composes `count` images into one archive at `path`. `out` is an array of `count`,
 * zero-initialised descriptions. ERROR_NOT_FOUND: a program is missing. ERROR_FORMAT: a program is
 * no ELF file. ERROR_IO: disk full and the like; no archive is left then. */
int image_compose(const char *path, const struct image_spec *specs, size_t count,
		  struct image_description *out, struct error *err);

/* The images of a run. */
struct images {
	struct image_description probe;
	struct image_description pause;
	char *archive; /* path */
};

/* Composes probe and pause image into `directory`/images.tar: every probe-* program of
 * `program_directory` with the Vulkan and OpenCL loaders, and the program `pause` of the same
 * directory. `program_directory` NULL: ../libexec/gpucert beside the running program.
 * ERROR_NOT_FOUND names the directory when there are no probes. ERROR_UNSUPPORTED on Windows, whose
 * images have layers of their own kind above Microsoft's. Takes less than a tenth of a
 * second, so nothing is cached. */
int images_prepare(const char *directory, const char *program_directory, struct images *out,
		   struct error *err);
/* What an image that was composed elsewhere must hold all the same: the probes of
 * `program_directory` (NULL: as for images_prepare()). ERROR_NOT_FOUND. */
int images_describe_probes(const char *program_directory, struct image_manifest *out,
			   struct error *err);
void images_free(struct images *images);
