/* SPDX-License-Identifier: MIT */
/* Manifests of Vulkan drivers over arbitrary bytes: the name of a library, or an error that says
 * why. */
#include "discovery/linux/manifest.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vulkan_icd icd CLEANUP_VULKAN_ICD = {0};
	struct error err = {0};
	int rc = vulkan_icd_parse((const char *)data, size, &icd, &err);
	if (rc == 0 ? icd.library_path[0] == '\0' : err.code != rc || err.text[0] == '\0')
		abort();
	return 0;
}
