/* SPDX-License-Identifier: MIT */
#pragma once

/* Reproducible tar files: owner 0, time 0, no names of users, entries in the order they are added.
 * Internal to images/. */

#include "base/error.h"
#include "containers/images/tree.h"

#include <stddef.h>

struct tar;

#define CLEANUP_TAR __attribute__((cleanup(tar_free)))

/* Creates (and truncates) the file at `path`. Every error names it. */
int tar_open(const char *path, struct tar **out, struct error *err);

/* A file of the host is followed through symbolic links. ERROR_IO also when it changes meanwhile. */
int tar_add(struct tar *tar, const struct image_entry *entry, struct error *err);

int tar_finish(struct tar *tar, struct error *err); /* completes the file */
void tar_free(struct tar **tar);
