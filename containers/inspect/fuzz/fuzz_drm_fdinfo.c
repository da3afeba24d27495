/* SPDX-License-Identifier: MIT */
/* DRM's statistics of an open device, over arbitrary bytes: names are bounded, and each engine appears once. */
#include "containers/inspect/inspect.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container_drm drm = {0};
	char *text CLEANUP_FREE = strndup((const char *)data, size);
	if (text == NULL || !container_drm_parse(text, &drm))
		return 0;
	require(drm.driver[0] != '\0' && strlen(drm.driver) < CONTAINER_DRM_NAME &&
		strlen(drm.pdev) < CONTAINER_DRM_NAME && drm.engine_count <= CONTAINER_ENGINES_MAX);
	for (size_t i = 0; i < drm.engine_count; i++) {
		require(drm.engines[i][0] != '\0' && strlen(drm.engines[i]) < CONTAINER_DRM_NAME);
		for (size_t k = 0; k < i; k++)
			require(strcmp(drm.engines[i], drm.engines[k]) != 0);
	}
	return 0;
}
