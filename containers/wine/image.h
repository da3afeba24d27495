/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The image in which Windows programs run under Wine, composed from the root that
 * containers/wine/root/make-root.sh makes: Wine, the display server, the API loaders, the prepared prefix,
 * and the Windows programs. It contains no driver, neither of Vulkan nor of OpenGL nor of OpenCL:
 * granted devices bring them.
 *
 *   /libexec/gpucert/PROGRAM.exe                     the programs
 *   /usr/local/sbin/wine-run                         starts them: wine-run --inside-root
 *   /var/lib/gpucert/prefix                          the Wine prefix; C: is drive_c below it
 *   /usr/lib/x86_64-linux-gnu/wine/x86_64-windows    Wine's own DLLs, once: the prefix has links to
 * them and what the dynamic linker needs, at the same paths as in the root
 */

#include "containers/images/images.h"

#define WINE_IMAGE_REPOSITORY "docker.io/gpucert/probe-wine"
#define WINE_IMAGE_PREFIX     "/var/lib/gpucert/prefix"
#define WINE_IMAGE_STARTER    "/usr/local/sbin/wine-run"

struct wine_image_options {
	const char *root;	     /* of make-root.sh */
	const char *starter;	     /* the script wine-run */
	const char *const *programs; /* NULL-ended host paths of .exe files */
	const char *dlls;	     /* as in struct wine_node */
	const char *cache; /* folder of archives, whose names are a hash of their content */
};

/* As images_prepare(), for Windows programs. Composing takes seconds, once for a set of programs;
 * the archive in the cache is used afterwards. ERROR_NOT_FOUND: the root, a program or `pause` is
 * missing. */
int wine_image_prepare(const struct wine_image_options *options, struct images *out,
		       struct error *err);

/* image_spec.content with `struct wine_image_options` as user. */
int wine_image_content(const struct image_spec *spec, struct image_tree *tree, struct error *err);
