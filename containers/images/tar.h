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

/* A file of the host is a regular one, behind symbolic links; ERROR_IO also when it changes
 * meanwhile. */
int tar_add(struct tar *tar, const struct image_entry *entry, struct error *err);

/* Completes the file. The tar is gone afterwards, also on failure. */
int tar_close(struct tar *tar, struct error *err);
void tar_abandon(struct tar *tar); /* NULL is allowed; the file is left as it is */
