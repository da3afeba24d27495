/* SPDX-License-Identifier: MIT */
#pragma once

/* The files of an image before they are written. */

#include "base/elf.h"
#include "base/text.h"

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
	const struct image_tree *below; /* a lower layer, whose entries are not added; or NULL */
};

#define CLEANUP_IMAGE_TREE __attribute__((cleanup(image_tree_free)))

/*
 * Adds an entry with the directories above it (mode 0755); strings are copied, `content` is "" for
 * a directory. An existing entry is kept as it is. Paths below /bin, /sbin and /lib* go
 * below /usr, where image_tree_base() points those names. ERROR_ARGUMENT: not absolute.
 */
int image_tree_add(struct image_tree *tree, enum image_entry_type type, const char *path,
		   const char *content, unsigned mode, struct error *err);
int image_tree_add_all(struct image_tree *tree, const struct image_entry *entries, size_t count,
		       struct error *err);

/* Adds the skeleton of a root file system, with users, that every image has. */
int image_tree_base(struct image_tree *tree, struct error *err);

/* Sorts by path, so that directories come before their content. */
void image_tree_sort(struct image_tree *tree);
bool image_tree_has(const struct image_tree *tree, const char *path);
void image_tree_free(struct image_tree *tree);

/* Adds libraries (NULL-ended; NULL: none) that programs open at run time, with their own needs. A
 * missing one is left out. */
int image_add_loaded(struct elf_closure *closure, const char *const *names, struct error *err);
