/* SPDX-License-Identifier: MIT */
#pragma once

/* Internal to images/. */

#include "containers/images/tree.h"
#include "containers/wine/image.h"

/* image_spec.content with `struct wine_image_options` as user. */
int wine_image_content(const struct image_spec *spec, struct image_tree *tree,
		       struct text_list *missing, struct error *err);
