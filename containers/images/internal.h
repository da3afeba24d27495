/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of composing an image: the files in it before they are written, how they are chosen, and
 * the tar files that they are written to. Internal to images/ and to the image of the Wine node. */

#include "base/elf.h"
#include "containers/images/images.h"

#include <stdbool.h>
#include <stddef.h>

enum image_entry_type { IMAGE_DIRECTORY, IMAGE_LINK, IMAGE_TEXT, IMAGE_FILE };

struct image_entry {
	enum image_entry_type type;
	const char *path;    /* absolute, normalised */
	const char *content; /* IMAGE_LINK: target; IMAGE_TEXT: content; IMAGE_FILE: host path */
	unsigned mode;
};

struct image_tree {
	struct image_entry *entries;
	size_t count;
	struct text_list strings;	/* of the entries */
	const struct image_tree *below; /* of a lower layer: what is there is not added; or NULL */
};

#define CLEANUP_IMAGE_TREE __attribute__((cleanup(image_tree_free)))

/*
 * Adds an entry with the directories above it (mode 0755); strings are copied, `content` is "" for
 * a directory. A path that is there already keeps what it is. Paths below /bin, /sbin and /lib* go
 * below /usr, where image_tree_base() points those names. ERROR_ARGUMENT: not absolute.
 * ERROR_MEMORY.
 */
int image_tree_add(struct image_tree *tree, enum image_entry_type type, const char *path,
		   const char *content, unsigned mode, struct error *err);
int image_tree_add_all(struct image_tree *tree, const struct image_entry *entries, size_t count,
		       struct error *err);

/* What every image has: the skeleton of a root file system, users, name service without a network.
 */
int image_tree_base(struct image_tree *tree, struct error *err);

/* By path: a directory comes before what it holds. */
void image_tree_sort(struct image_tree *tree);
bool image_tree_has(const struct image_tree *tree, const char *path);
void image_tree_free(struct image_tree *tree);

/* The skeleton, the programs, their needs and the loaded libraries with theirs; the second without
 * the skeleton. Errors: those of image_compose(). */
int image_content(const struct image_spec *spec, struct image_tree *tree, struct error *err);
int image_layer_content(const struct image_layer *layer, struct image_tree *tree,
			struct error *err);

/* Adds libraries (NULL-ended; NULL: none) that programs open at run time, with what they need. One
 * that is not there is left out. */
int image_add_loaded(struct elf_closure *closure, const char *const *names, struct error *err);

/* The machine's name in image configurations: "amd64" for "x86_64". ERROR_UNSUPPORTED names it. */
int image_architecture(const char *machine, const char **out, struct error *err);

/* `directory` NULL: ../libexec/gpucert beside the running program. Caller frees *out. */
int images_find_programs(const char *directory, char **out, struct error *err);

/* The paths of the probe-* programs there, sorted. ERROR_NOT_FOUND: there are none. */
#define IMAGES_PROBE_PREFIX "probe-"
int images_list_probes(const char *program_directory, struct text_list *probes, struct error *err);

/* Reproducible tar files: owner 0, time 0, no names of users, entries in the order they are added. */
struct tar;

#define CLEANUP_TAR __attribute__((cleanup(tar_free)))

/* Creates (and truncates) the file at `path`. Every error names it. */
int tar_open(const char *path, struct tar **out, struct error *err);

/* A file of the host is followed through symbolic links. ERROR_IO also when it changes meanwhile. */
int tar_add(struct tar *tar, const struct image_entry *entry, struct error *err);

int tar_finish(struct tar *tar, struct error *err); /* completes the file */
void tar_free(struct tar **tar);
