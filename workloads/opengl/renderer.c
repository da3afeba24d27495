/* SPDX-License-Identifier: MIT */
#include "workloads/opengl/renderer.h"

#include "base/cleanup.h"

#include <string.h>

bool renderer_is_software(const char *renderer)
{
	static const char *const names[] = {"llvmpipe",
					    "softpipe",
					    "swrast",
					    "Software Rasterizer",
					    "SwiftShader",
					    "GDI Generic",
					    "Microsoft Basic Render"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strstr(renderer, names[i]) != NULL)
			return true;
	}
	return false;
}
