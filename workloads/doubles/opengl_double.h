/* SPDX-License-Identifier: MIT */
#pragma once

/* An OpenGL driver for tests, loaded by the real loader (libglvnd) as its vendor library. Its
 * devices work on the processor and know one compute shader and one triangle, those of the probes.
 * Words in addition to those of settings.h:
 *
 *   software          its devices are a software renderer's; software=N: device N is
 *   uninitialized=N   device N cannot be initialised
 *   unwritten         it hands out only the first 16 of the devices that it reports
 *   es                no OpenGL, only OpenGL ES 3.1
 *   old               nothing newer than OpenGL ES 2
 *   pixel=INDEX       one pixel of the picture is wrong
 *   nothing           it does not draw
 *   broken            no shader compiles
 *   unmapped          mapping memory returns no address
 *   lost              the contents of mapped memory are lost */

#include <GL/glcorearb.h>

enum { DOUBLE_DEVICES_MAX = 512 };

/* opengl_double_gl.c: a function of OpenGL; NULL: none of that name. */
void *double_gl_function(const char *name);
/* The device of the current context, counted from 0. */
extern unsigned double_device;
