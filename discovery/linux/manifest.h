/* SPDX-License-Identifier: MIT */
#pragma once

/* Manifests of installed drivers of Vulkan and OpenCL. */

#include "base/elf.h"
#include "discovery/linux/node.h"

typedef int manifest_read(struct node *node, const char *manifest, const char *data, size_t size,
			  const void *user, struct error *err);

/* Passes every file of the directory with the suffix to `read`; a failure becomes a diagnostic. */
void manifest_read_directory(struct node *node, const char *directory, const char *suffix,
			     manifest_read *read, const void *user);

/* The host path of the library `name` of a manifest. Caller frees *out. */
int manifest_find_library(struct elf_closure *closure, const char *manifest, const char *name,
			  char **out, struct error *err);

/* A manifest *.icd of OpenCL (cl_khr_icd extension): one line with the name or path of a library.
 * ERROR_FORMAT: no line, or bytes that a path cannot have; ERROR_LIMIT: longer than a path can be. Caller
 * frees *library. */
int opencl_icd_parse(const char *data, size_t size, char **library, struct error *err);

/* A manifest of a Vulkan driver (LoaderDriverInterface.md of KhronosGroup/Vulkan-Loader), or one of
 * an EGL driver, which has the same form without the version (README.md of NVIDIA/libglvnd). */
struct vulkan_icd {
	char *library_path; /* absolute, relative to the manifest, or a bare name */
	char *api_version;  /* "" when absent */
};

/* ERROR_FORMAT names the place ("ICD.library_path: missing, expected string"); ERROR_LIMIT. Free
 * with vulkan_icd_free(). */
int vulkan_icd_parse(const char *data, size_t size, struct vulkan_icd *out, struct error *err);
void vulkan_icd_free(struct vulkan_icd *icd);

#define CLEANUP_VULKAN_ICD __attribute__((cleanup(vulkan_icd_free)))
