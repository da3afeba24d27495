/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The files that a software driver needs in a container that holds nothing but a dynamic program.
 * What such a program brings by itself is left out: the C library (libc.so.6) and the dynamic
 * loader, which must stay the image's own pair. Everything else of the C library (libm.so.6, ...)
 * is included.
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
 * "needed-library". What is missing becomes a diagnostic and makes the device unhealthy. */
int runtime_add_library(struct runtime *runtime, const char *path, const char *origin,
			struct error *err);

/* A file without needs, or a whole directory. */
int runtime_add_path(struct runtime *runtime, const char *path, bool directory, const char *origin,
		     struct error *err);

/* What PoCL needs to turn kernels into machine code: its data directory, the device libraries that
 * it loads by name, and what a linker needs to make a shared library (docs/discovery.md says by
 * which rules). */
int runtime_add_pocl(struct runtime *runtime, const char *library, struct error *err);

/* What Mesa's EGL opens by name: the library that renders, with its needs. */
int runtime_add_mesa(struct runtime *runtime, const char *library, struct error *err);

/* The host path of that library, for Mesa's EGL at a host path without links: libgallium-VERSION.so
 * beside it since Mesa 24.2, before it dri/swrast_dri.so. ERROR_NOT_FOUND. Caller frees *out. */
int mesa_find_renderer(const struct places *places, const char *library, char **out,
		       struct error *err);
