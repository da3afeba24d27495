/* SPDX-License-Identifier: MIT */
#include "workloads/common/render.h"

#include <stdio.h>
#include <string.h>

static uint8_t channel(uint32_t seed, unsigned index)
{
	return (uint8_t)((seed * 0x9e3779b9u + 0x7f4a7c15u) >> (8 * index));
}

struct render_colour render_background(uint32_t seed)
{
	return (struct render_colour){
		{channel(seed, 0), channel(seed, 1), channel(seed, 2), channel(seed, 3)}};
}

struct render_colour render_triangle(uint32_t seed)
{
	struct render_colour colour = render_background(seed);
	for (size_t i = 0; i < RENDER_PIXEL; i++)
		colour.channels[i] = (uint8_t)(colour.channels[i] ^ 0xA5u);
	return colour;
}

struct render_colour_float render_colour_float(struct render_colour colour)
{
	struct render_colour_float out = {{0}};
	for (size_t i = 0; i < RENDER_PIXEL; i++)
		out.channels[i] = (float)colour.channels[i] / 255.0f;
	return out;
}

/* The centre of a pixel is at (x + 1/2, y + 1/2); the slanted edge is x + y = 64.5. */
struct render_colour render_expected(uint32_t seed, size_t x, size_t y)
{
	return x >= 8 && y >= 8 && x + y + 1 <= 64 ? render_triangle(seed)
						   : render_background(seed);
}

void render_verify(uint32_t seed, const uint8_t *pixels, size_t pitch, struct render_report *report)
{
	uint8_t rows[RENDER_SIZE][RENDER_SIZE * RENDER_PIXEL];
	*report = (struct render_report){.done = true};
	for (size_t y = 0; y < RENDER_SIZE; y++)
		memcpy(rows[y], pixels + y * pitch, sizeof(rows[y]));
	digest_bytes(rows, sizeof(rows), report->digest);
	for (size_t i = 0; i < (size_t)RENDER_SIZE * RENDER_SIZE; i++) {
		const size_t x = i % RENDER_SIZE;
		const size_t y = i / RENDER_SIZE;
		const uint8_t *pixel = pixels + y * pitch + x * RENDER_PIXEL;
		const struct render_colour expected = render_expected(seed, x, y);
		if (memcmp(pixel, expected.channels, RENDER_PIXEL) == 0 || report->mismatches++ > 0)
			continue;
		report->x = x;
		report->y = y;
		report->expected = expected;
		memcpy(report->actual.channels, pixel, RENDER_PIXEL);
	}
}

void render_colour_text(struct render_colour colour, char out[static RENDER_COLOUR_TEXT])
{
	(void)snprintf(out, RENDER_COLOUR_TEXT, "#%02x%02x%02x%02x", colour.channels[0],
		       colour.channels[1], colour.channels[2], colour.channels[3]);
}

void render_report_reason(const struct render_report *report, char *out, size_t size)
{
	char expected[RENDER_COLOUR_TEXT] = "";
	char actual[RENDER_COLOUR_TEXT] = "";
	out[0] = '\0';
	if (report->mismatches == 0)
		return;
	render_colour_text(report->expected, expected);
	render_colour_text(report->actual, actual);
	(void)snprintf(out, size,
		       "%zu pixels are wrong; first: (%zu, %zu) is %s, expected %s (red, green, "
		       "blue, alpha)",
		       report->mismatches, report->x, report->y, actual, expected);
}
