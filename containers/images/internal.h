/* SPDX-License-Identifier: MIT */
#pragma once

/* Internal to images/. */

#include "base/elf.h"
#include "containers/images/images.h"
#include "containers/images/tree.h"

/* The skeleton, the programs, their needs and the loaded libraries with theirs. Errors: those of
 * image_compose(). */
int image_content(const struct image_spec *spec, struct image_tree *tree, struct error *err);

/* Adds libraries (NULL-ended; NULL: none) that programs open at run time, with what they need. One
 * that is not there is left out. */
int image_add_loaded(struct elf_closure *closure, const char *const *names, struct error *err);

/* The machine's name in image configurations: "amd64" for "x86_64". ERROR_UNSUPPORTED names it. */
int image_architecture(const char *machine, const char **out, struct error *err);
