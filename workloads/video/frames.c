/* SPDX-License-Identifier: MIT */
#include "workloads/video/frames.h"

#include "workloads/common/reference.h"

#include <math.h>
#include <string.h>

const struct video_size video_sizes[] = {{320, 240}, {192, 128}, {64, 64}, {0, 0}};

bool video_has_size(unsigned width, unsigned height)
{
	for (const struct video_size *size = video_sizes; size->width != 0; size++) {
		if (size->width == width && size->height == height)
			return true;
	}
	return false;
}

/* A frame of a seed: `x` and `y` are the place of its first sample in the plane of cells. */
struct frame {
	uint32_t seed;
	unsigned x, y;
};

static struct frame frame_of(uint32_t seed, unsigned number)
{
	/* The plane moves 4 or 6 samples each frame, which are whole samples of U and V, too. */
	const unsigned step_x = 4 + 2 * (work_expected_value(seed, SIZE_MAX) & 1u);
	const unsigned step_y = 4 + 2 * (work_expected_value(seed, SIZE_MAX - 1) & 1u);

	return (struct frame){seed, number * step_x, number * step_y};
}

static uint8_t sample_of(const struct frame *frame, unsigned plane, unsigned x, unsigned y)
{
	const unsigned scale = plane == 0 ? 1 : 2;
	const unsigned px = x * scale + frame->x;
	const unsigned py = y * scale + frame->y;
	/* Levels and slopes of the cell, all in one number. */
	const uint32_t cell =
		work_expected_value(frame->seed, (size_t)(py / VIDEO_CELL) << 16 | px / VIDEO_CELL);

	if (plane != 0)
		return (uint8_t)(64 + (cell >> (plane == 1 ? 8 : 16) & 0x7Fu));
	const unsigned slope =
		(px % VIDEO_CELL) * (cell >> 24 & 1u) + (py % VIDEO_CELL) * (1 + (cell >> 25 & 1u));
	return (uint8_t)(16 + (cell & 0xFFu) * 160 / 255 + slope);
}

uint8_t video_sample(uint32_t seed, unsigned frame, unsigned plane, unsigned x, unsigned y)
{
	const struct frame of = frame_of(seed, frame);

	return sample_of(&of, plane, x, y);
}

static void fill_plane(const struct video_source *source, unsigned number, unsigned plane,
		       uint8_t *out, size_t pitch, size_t step)
{
	const unsigned scale = plane == 0 ? 1 : 2;
	const struct frame frame = frame_of(source->seed, number);

	for (unsigned y = 0; y < source->height / scale; y++) {
		for (unsigned x = 0; x < source->width / scale; x++)
			out[y * pitch + x * step] = sample_of(&frame, plane, x, y);
	}
}

void video_fill(const struct video_source *source, unsigned frame, enum video_layout layout,
		const struct video_planes *out)
{
	fill_plane(source, frame, 0, out->data[0], out->pitch[0], 1);
	if (layout == VIDEO_NV12) {
		fill_plane(source, frame, 1, out->data[1], out->pitch[1], 2);
		fill_plane(source, frame, 2, out->data[1] + 1, out->pitch[1], 2);
	} else {
		fill_plane(source, frame, 1, out->data[1], out->pitch[1], 1);
		fill_plane(source, frame, 2, out->data[2], out->pitch[2], 1);
	}
}

size_t video_frame_size(const struct video_source *source)
{
	return (size_t)source->width * source->height * 3 / 2;
}

struct video_planes video_planes_of(const struct video_source *source, enum video_layout layout,
				    uint8_t *memory)
{
	const size_t width = source->width;
	uint8_t *chroma = memory + width * source->height;

	if (layout == VIDEO_NV12)
		return (struct video_planes){{memory, chroma, NULL}, {width, width, 0}};
	return (struct video_planes){{memory, chroma, chroma + width * source->height / 4},
				     {width, width / 2, width / 2}};
}

void video_copy(const struct video_source *source, const struct video_planes *from,
		const struct video_planes *to)
{
	for (unsigned plane = 0; plane < VIDEO_PLANES && from->data[plane] != NULL; plane++) {
		for (size_t y = 0; y < source->height / (plane == 0 ? 1 : 2); y++)
			memcpy(to->data[plane] + y * to->pitch[plane],
			       from->data[plane] + y * from->pitch[plane], from->pitch[plane]);
	}
}

/* The similarity in dB of a plane to that of `other`, or, where it is NULL, of the frame of another
 * seed: by every `step`-th sample of every `step`-th row. */
static double compare(const struct video_source *source, unsigned number, unsigned plane,
		      const struct video_planes *other, uint32_t seed, unsigned step)
{
	const unsigned scale = plane == 0 ? 1 : 2;
	const struct frame own = frame_of(source->seed, number);
	const struct frame another = frame_of(seed, number);
	uint64_t squares = 0, samples = 0;

	for (unsigned y = 0; y < source->height / scale; y += step) {
		for (unsigned x = 0; x < source->width / scale; x += step) {
			const int sample = other != NULL
						   ? other->data[plane][y * other->pitch[plane] + x]
						   : sample_of(&another, plane, x, y);
			const int difference = sample - sample_of(&own, plane, x, y);
			squares += (uint64_t)(difference * difference);
			samples++;
		}
	}
	return squares == 0 ? 99.0 : 10 * log10(255.0 * 255.0 * (double)samples / (double)squares);
}

void video_psnr(const struct video_source *source, unsigned frame, const struct video_planes *other,
		double out[VIDEO_PLANES])
{
	for (unsigned plane = 0; plane < VIDEO_PLANES; plane++)
		out[plane] = compare(source, frame, plane, other, 0, 1);
}

uint32_t video_other_seed(const struct video_source *source)
{
	uint32_t seed = ~source->seed;
	unsigned unlike = 0; /* planes of frames */

	while (unlike < VIDEO_FRAMES * VIDEO_PLANES) {
		if (compare(source, unlike / VIDEO_PLANES, unlike % VIDEO_PLANES, NULL, seed, 4) <
		    VIDEO_UNLIKE_DB - 3) {
			unlike++;
		} else {
			seed += 0x9e3779b9u;
			unlike = 0;
		}
	}
	return seed;
}
