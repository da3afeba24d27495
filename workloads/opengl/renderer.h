/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Whether GL_RENDERER names a processor: llvmpipe, softpipe, Mesa's swrast, SwiftShader, GDI. */
bool renderer_is_software(const char *renderer);
