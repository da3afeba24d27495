/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The picture that graphics APIs draw off-screen; work_compare_picture() (work.h) verifies it.
 *
 * A triangle of one colour on a background of another, RENDER_SIZE pixels wide and high, four bytes
 * a pixel (red, green, blue, alpha), first row on top. Its corners in pixels are (8, 8), (56.5, 8)
 * and (8, 56.5): no edge meets the centre of a pixel, so that the rules of rasterisation leave no
 * choice for any of them. The colours follow from the seed of the work.
 */

#include <stddef.h>
#include <stdint.h>

enum {
	RENDER_SIZE = 64, /* pixels */
	RENDER_PIXEL = 4, /* bytes */
};

struct render_colour {
	uint8_t channels[RENDER_PIXEL];
};

/* The form that APIs expect: 0 to 1. Rounding to the nearest of 256 restores a channel. */
struct render_colour_float {
	float channels[RENDER_PIXEL];
};

struct render_colour render_background(uint32_t seed);
/* Differs from the background in each channel. */
struct render_colour render_triangle(uint32_t seed);
struct render_colour_float render_colour_float(struct render_colour colour);

/* The right value of a pixel. */
struct render_colour render_expected(uint32_t seed, size_t x, size_t y);
