/* SPDX-License-Identifier: MIT */
#pragma once

/* Manifests of Vulkan drivers (LoaderDriverInterface.md of KhronosGroup/Vulkan-Loader). */

#include "base/error.h"

#include <stddef.h>

struct vulkan_icd {
	char *library_path; /* absolute, relative to the manifest, or a bare name */
	char *api_version;  /* "" when absent */
};

/* ERROR_FORMAT names the place ("ICD.library_path: missing, expected string"); ERROR_LIMIT. Free
 * with vulkan_icd_free(). */
int vulkan_icd_parse(const char *data, size_t size, struct vulkan_icd *out, struct error *err);
void vulkan_icd_free(struct vulkan_icd *icd);

#define CLEANUP_VULKAN_ICD __attribute__((cleanup(vulkan_icd_free)))
