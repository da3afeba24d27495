/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The files that a user-mode driver needs in a container that contains only a dynamic program. The
 * files of such a program are left out: the C library (libc.so.6) and the dynamic loader, which must
 * both stay the image's own. The other libraries of the C library (libm.so.6, ...) are included.
 *
 * The origins of files: "manifest", "driver-library", "needed-library", "device-library",
 * "driver-data", "linker", "compiler-library", "link-library".
 */

#include "base/elf.h"
#include "discovery/linux/node.h"

struct runtime {
	struct node *node;
	struct discovery_device *device;
	struct elf_closure *closure;
};

/* Is it, by its file name, the C library or the dynamic loader (of glibc or musl)? */
bool runtime_is_in_every_image(const char *path);

/* All paths are host paths, and files keep them in the container. Two files never share a
 * destination: the first one stays. */

/* A library or program at `path` as a file of `origin`, and everything it needs as
 * "needed-library". A missing library becomes a diagnostic and makes the device unhealthy. */
int runtime_add_library(struct runtime *runtime, const char *path, const char *origin,
			struct error *err);

/* A file without needs, or a whole directory. */
int runtime_add_path(struct runtime *runtime, const char *path, bool directory, const char *origin,
		     struct error *err);

/* Is the library for the machine that this program is made for? On systems with two word sizes each has its own
 * manifest. An unreadable one is: it is reported when its needs are looked up. `library`: without links. */
bool runtime_is_loadable(struct node *node, const char *library);

/* A path next to a file, with the links of the file's directory resolved. The arena's. */
int runtime_path_near(const struct runtime *runtime, const char *file, const char *relative,
		      const char **out, struct error *err);

/* The variables by which Vulkan's loader finds the manifest, and those of earlier calls. */
void runtime_add_vulkan_variables(struct runtime *runtime, const char *manifest);

/* The files that PoCL needs to compile kernels: its data directory, the device libraries that it loads
 * by name, and those for linking a shared library. */
int runtime_add_pocl(struct runtime *runtime, const char *library, struct error *err);

/* The library that renders, which Mesa's EGL opens by name, with its needs. */
int runtime_add_mesa(struct runtime *runtime, const char *library, struct error *err);

/* The host path of that library, for Mesa's EGL at a host path without links: libgallium-VERSION.so
 * next to it since Mesa 24.2, dri/swrast_dri.so before. ERROR_NOT_FOUND; *out stays. */
int mesa_find_renderer(struct node *node, const char *library, const char **out, struct error *err);
