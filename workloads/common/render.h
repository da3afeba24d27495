/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The picture that graphics APIs draw off-screen, and the verification of every pixel of it.
 *
 * A triangle of one colour on a background of another, RENDER_SIZE pixels wide and high, four bytes
 * a pixel (red, green, blue, alpha), first row on top. Its corners in pixels are (8, 8), (56.5, 8)
 * and (8, 56.5): no edge meets the centre of a pixel, so that the rules of rasterisation leave no
 * choice for any of them. The colours follow from the seed of the work.
 */

#include "base/digest.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RENDER_SIZE = 64, /* pixels */
	RENDER_PIXEL = 4, /* bytes */
};

struct render_colour {
	uint8_t channels[RENDER_PIXEL];
};

/* As APIs want colours: 0 to 1. A channel that is rounded to the nearest of 256 is what it was. */
struct render_colour_float {
	float channels[RENDER_PIXEL];
};

struct render_report {
	bool done;		  /* something was drawn and compared */
	char digest[DIGEST_SIZE]; /* of the pixels as read back, without gaps between rows */
	size_t mismatches;
	size_t x, y; /* of the first pixel that is wrong */
	struct render_colour expected, actual;
};

struct render_colour render_background(uint32_t seed);
struct render_colour
render_triangle(uint32_t seed); /* differs from the background in each channel */
struct render_colour_float render_colour_float(struct render_colour colour);

/* "#rrggbbaa" */
enum { RENDER_COLOUR_TEXT = 16 };
void render_colour_text(struct render_colour colour, char out[static RENDER_COLOUR_TEXT]);

/* What a pixel must be. */
struct render_colour render_expected(uint32_t seed, size_t x, size_t y);

/* Compares all pixels; a row begins every `pitch` bytes. */
void render_verify(uint32_t seed, const uint8_t *pixels, size_t pitch,
		   struct render_report *report);

/* One sentence about what is wrong; "" when nothing is. */
void render_report_reason(const struct render_report *report, char *out, size_t size);

/* The `render` member of a work; null when nothing was drawn. NULL: out of memory. */
cJSON *render_report_json(const struct render_report *report);
