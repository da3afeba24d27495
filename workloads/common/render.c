/* SPDX-License-Identifier: MIT */
#include "workloads/common/render.h"

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
