/* SPDX-License-Identifier: MIT */
#pragma once

/* Internal to images/: the choice of an image's files, and the tar files that hold them. */

#include "containers/images/images.h"
#include "containers/images/tree.h"

/* Adds the skeleton, the programs, the libraries they need, and the loaded libraries with their needs;
 * image_layer_content() leaves out the skeleton. Errors of image_compose(). */
int image_content(const struct image_spec *spec, struct image_tree *tree, struct error *err);
int image_layer_content(const struct image_layer *layer, struct image_tree *tree,
			struct error *err);

/* The machine's name in image configurations: "amd64" for "x86_64". ERROR_UNSUPPORTED names it. */
int image_architecture(const char *machine, const char **out, struct error *err);

/* The paths of the probe-* programs there, sorted. ERROR_NOT_FOUND: none. */
#define IMAGES_PROBE_PREFIX "probe-"
int images_list_probes(const char *program_directory, struct text_list *probes, struct error *err);

/* Reproducible tar files: owner 0, time 0, no names of users, entries in the order they are added. */
struct tar;

#define CLEANUP_TAR __attribute__((cleanup(tar_free)))

/* Creates (and truncates) the file at `path`. Every error names it. */
int tar_open(const char *path, struct tar **out, struct error *err);

/* Follows symbolic links to a file of the host. ERROR_IO also when it changes meanwhile. */
int tar_add(struct tar *tar, const struct image_entry *entry, struct error *err);

int tar_finish(struct tar *tar, struct error *err); /* completes the file */
void tar_free(struct tar **tar);
