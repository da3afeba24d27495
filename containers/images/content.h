/* SPDX-License-Identifier: MIT */
#pragma once

/* Which files an image needs. Internal to images/. */

#include "containers/images/images.h"
#include "containers/images/tree.h"

/* The skeleton, the programs, their needs and the loaded libraries with theirs. `missing` receives
 * the sonames that this machine lacks. Errors: those of image_compose(). */
int image_content(const struct image_spec *spec, struct image_tree *tree, struct text_list *missing,
		  struct error *err);
