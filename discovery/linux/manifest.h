/* SPDX-License-Identifier: MIT */
#pragma once

/* Manifests of installed drivers, of Vulkan and of OpenCL. */

#include "base/elf.h"
#include "discovery/linux/node.h"

typedef int manifest_read(struct node *node, const char *manifest, const char *data, size_t size,
			  struct error *err);

/* Hands every file of the directory with the suffix to `read`; what it cannot use is a diagnostic.
 */
void manifest_read_directory(struct node *node, const char *directory, const char *suffix,
			     manifest_read *read);

/* The host path of the library `name` that a manifest names. Caller frees *out. */
int manifest_find_library(struct elf_closure *closure, const char *manifest, const char *name,
			  char **out, struct error *err);
