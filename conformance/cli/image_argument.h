/* SPDX-License-Identifier: MIT */
#pragma once

/* The image that a command line names. */

#include "containers/contents/contents.h"
#include "containers/registry/image_source.h"

struct image_argument {
	struct image_source *source;
	struct image image;
};

/* OS/ARCHITECTURE[/VARIANT][:OS-VERSION], "windows/amd64:10.0.20348.2582". ERROR_ARGUMENT. */
int image_platform_parse(const char *string, struct arena *arena, struct image_platform *out,
			 struct error *err);

/* Opens the source and loads the image of a platform (NULL: the only one, or this machine's). Errors
 * of image_platform_parse(), image_source_open() and image_source_load(). */
int image_argument_open(const char *name, const char *platform, struct image_argument *out,
			struct error *err);

/* Reads all layers, with progress on a terminal. Errors of image_contents_read(). */
int image_contents_read_shown(struct image_source *source, const struct image *image,
			      struct image_contents *out, struct error *err);

void image_argument_free(struct image_argument *argument);
