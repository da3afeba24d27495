/* SPDX-License-Identifier: MIT */
#include "workloads/video/frames.h"

#include "workloads/common/reference.h"

#include <math.h>

const struct video_size video_sizes[] = {{320, 240}, {192, 128}, {64, 64}, {0, 0}};

bool video_has_size(unsigned width, unsigned height)
{
	for (const struct video_size *size = video_sizes; size->width != 0; size++) {
		if (size->width == width && size->height == height)
			return true;
	}
	return false;
}

/* Samples that the plane of cells moves in each frame, to the left or upwards: 4 or 6, which are whole
 * samples of U and V, too. */
static unsigned move(uint32_t seed, size_t axis)
{
	return 4 + 2 * (work_expected_value(seed, axis) & 1u);
}

/* Level and slopes of a cell, all in one number. */
static uint32_t cell_at(uint32_t seed, unsigned x, unsigned y)
{
	return work_expected_value(seed, (size_t)(y / VIDEO_CELL) << 16 | x / VIDEO_CELL);
}

uint8_t video_sample(uint32_t seed, unsigned frame, unsigned plane, unsigned x, unsigned y)
{
	const unsigned scale = plane == 0 ? 1 : 2;
	const unsigned px = x * scale + frame * move(seed, SIZE_MAX);
	const unsigned py = y * scale + frame * move(seed, SIZE_MAX - 1);
	const uint32_t cell = cell_at(seed, px, py);
	if (plane != 0)
		return (uint8_t)(64 + (cell >> (plane == 1 ? 8 : 16) & 0x7Fu));
	const unsigned slope =
		(px % VIDEO_CELL) * (cell >> 24 & 1u) + (py % VIDEO_CELL) * (1 + (cell >> 25 & 1u));
	return (uint8_t)(16 + (cell & 0xFFu) * 160 / 255 + slope);
}

static uint8_t clamp(int value)
{
	return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void put_rgba(const struct video_source *source, unsigned frame, unsigned x, unsigned y,
		     uint8_t *out)
{
	const int luma = 298 * (video_sample(source->seed, frame, 0, x, y) - 16);
	const int u = video_sample(source->seed, frame, 1, x / 2, y / 2) - 128;
	const int v = video_sample(source->seed, frame, 2, x / 2, y / 2) - 128;
	out[0] = clamp((luma + 409 * v + 128) / 256);
	out[1] = clamp((luma - 100 * u - 208 * v + 128) / 256);
	out[2] = clamp((luma + 516 * u + 128) / 256);
	out[3] = 255;
}

static void fill_plane(const struct video_source *source, unsigned frame, unsigned plane,
		       uint8_t *out, size_t pitch, size_t step)
{
	const unsigned scale = plane == 0 ? 1 : 2;
	for (unsigned y = 0; y < source->height / scale; y++) {
		for (unsigned x = 0; x < source->width / scale; x++)
			out[y * pitch + x * step] = video_sample(source->seed, frame, plane, x, y);
	}
}

void video_fill(const struct video_source *source, unsigned frame, enum video_layout layout,
		const struct video_planes *out)
{
	const bool beside = layout == VIDEO_NV12;
	if (layout != VIDEO_RGBA) {
		fill_plane(source, frame, 0, out->data[0], out->pitch[0], 1);
		fill_plane(source, frame, 1, out->data[1], out->pitch[1], beside ? 2 : 1);
		fill_plane(source, frame, 2, beside ? out->data[1] + 1 : out->data[2],
			   out->pitch[beside ? 1 : 2], beside ? 2 : 1);
		return;
	}
	for (unsigned y = 0; y < source->height; y++) {
		for (unsigned x = 0; x < source->width; x++)
			put_rgba(source, frame, x, y,
				 out->data[0] + y * out->pitch[0] + (size_t)x * VIDEO_RGBA_PIXEL);
	}
}

size_t video_frame_size(const struct video_source *source, enum video_layout layout)
{
	const size_t pixels = (size_t)source->width * source->height;
	return layout == VIDEO_RGBA ? pixels * VIDEO_RGBA_PIXEL : pixels * 3 / 2;
}

struct video_planes video_planes_of(const struct video_source *source, enum video_layout layout,
				    uint8_t *memory)
{
	const size_t width = source->width;
	const size_t pixels = width * source->height;
	if (layout == VIDEO_RGBA)
		return (struct video_planes){{memory, NULL, NULL},
					     {width * VIDEO_RGBA_PIXEL, 0, 0}};
	if (layout == VIDEO_NV12)
		return (struct video_planes){{memory, memory + pixels, NULL}, {width, width, 0}};
	return (struct video_planes){{memory, memory + pixels, memory + pixels + pixels / 4},
				     {width, width / 2, width / 2}};
}

static double decibels(uint64_t squares, uint64_t samples)
{
	return squares == 0 ? 99.0 : 10 * log10(255.0 * 255.0 * (double)samples / (double)squares);
}

void video_psnr(const struct video_source *source, unsigned frame, const struct video_planes *other,
		double out[VIDEO_PLANES])
{
	for (unsigned plane = 0; plane < VIDEO_PLANES; plane++) {
		const unsigned scale = plane == 0 ? 1 : 2;
		const unsigned width = source->width / scale;
		const unsigned height = source->height / scale;
		uint64_t squares = 0;
		for (unsigned y = 0; y < height; y++) {
			for (unsigned x = 0; x < width; x++) {
				const int difference =
					other->data[plane][y * other->pitch[plane] + x] -
					video_sample(source->seed, frame, plane, x, y);
				squares += (uint64_t)(difference * difference);
			}
		}
		out[plane] = decibels(squares, (uint64_t)width * height);
	}
}

/* How like the frames of two seeds are, on a grid of every fourth sample. */
static bool is_unlike(const struct video_source *source, uint32_t seed)
{
	for (unsigned frame = 0; frame < VIDEO_FRAMES; frame++) {
		for (unsigned plane = 0; plane < VIDEO_PLANES; plane++) {
			const unsigned scale = plane == 0 ? 1 : 2;
			uint64_t squares = 0, samples = 0;
			for (unsigned y = 0; y < source->height / scale; y += 4) {
				for (unsigned x = 0; x < source->width / scale; x += 4) {
					const int difference =
						video_sample(source->seed, frame, plane, x, y) -
						video_sample(seed, frame, plane, x, y);
					squares += (uint64_t)(difference * difference);
					samples++;
				}
			}
			if (decibels(squares, samples) >= VIDEO_UNLIKE_DB - 3)
				return false;
		}
	}
	return true;
}

uint32_t video_other_seed(const struct video_source *source)
{
	uint32_t seed = ~source->seed;
	while (!is_unlike(source, seed))
		seed += 0x9e3779b9u;
	return seed;
}
