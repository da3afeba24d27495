/* SPDX-License-Identifier: MIT */
#pragma once

/* Reproducible tar files: owner 0, time 0, no names of users, entries in the order they are added.
 * Internal to images/. */

#include "base/error.h"
#include "containers/images/tree.h"

#include <stddef.h>

struct tar;

/* Creates (and truncates) the file at `path`. Every error names it. */
int tar_open(const char *path, struct tar **out, struct error *err);

int tar_add_directory(struct tar *tar, const char *path, unsigned mode, struct error *err);
int tar_add_link(struct tar *tar, const char *path, const char *target, struct error *err);
int tar_add_bytes(struct tar *tar, const char *path, unsigned mode, const void *data, size_t size,
		  struct error *err);
/* A regular file of the host; symbolic links are followed. ERROR_IO also when it changes meanwhile.
 */
int tar_add_file(struct tar *tar, const char *path, unsigned mode, const char *source,
		 struct error *err);
int tar_add_tree(struct tar *tar, const struct image_tree *tree, struct error *err);

/* Completes the file. The tar is gone afterwards, also on failure. */
int tar_close(struct tar *tar, struct error *err);
void tar_abandon(struct tar *tar); /* NULL is allowed; the file is left as it is */
