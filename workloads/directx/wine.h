/* SPDX-License-Identifier: MIT */
#pragma once

/* Wine stands in for Windows. Its Direct3D describes a graphics card that it made up and draws
 * through OpenGL (up to Direct3D 11) and Vulkan (12), so that the vendor of an adapter says nothing
 * about what does the work there. */

#include <stddef.h>

/* "Wine 10.0"; "" on Windows itself. */
void wine_name(char *out, size_t size);

/* GL_RENDERER of a hidden window: what Wine's Direct3D draws with; "" when OpenGL does not work. To
 * be asked under Wine alone. */
void wine_renderer(char *out, size_t size);
