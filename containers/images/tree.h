/* SPDX-License-Identifier: MIT */
#pragma once

/* The files of an image before they are written. Internal to images/. */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum image_entry_type { IMAGE_DIRECTORY, IMAGE_LINK, IMAGE_TEXT, IMAGE_FILE };

struct image_entry {
	enum image_entry_type type;
	char *path;    /* absolute, normalised */
	char *content; /* IMAGE_LINK: target; IMAGE_TEXT: content; IMAGE_FILE: path on the host */
	unsigned mode;
};

struct image_tree {
	struct image_entry *entries;
	size_t count;
	size_t capacity;
};

#define CLEANUP_IMAGE_TREE __attribute__((cleanup(image_tree_free)))

/*
 * Each adds an entry with the directories above it (mode 0755); strings are copied. A path that is
 * there already keeps what it is. Paths below /bin, /sbin and /lib* go below /usr, where
 * image_tree_base() points those names. ERROR_ARGUMENT: not absolute. ERROR_MEMORY.
 */
int image_tree_directory(struct image_tree *tree, const char *path, unsigned mode,
			 struct error *err);
int image_tree_link(struct image_tree *tree, const char *path, const char *target,
		    struct error *err);
int image_tree_text(struct image_tree *tree, const char *path, const char *content, unsigned mode,
		    struct error *err);
int image_tree_file(struct image_tree *tree, const char *path, const char *source, unsigned mode,
		    struct error *err);

/* What every image has: the skeleton of a root file system, users, name service without a network.
 */
int image_tree_base(struct image_tree *tree, struct error *err);

/* By path: a directory comes before what it holds. */
void image_tree_sort(struct image_tree *tree);
bool image_tree_has(const struct image_tree *tree, const char *path);
void image_tree_free(struct image_tree *tree);
