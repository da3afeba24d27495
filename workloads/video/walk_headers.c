/* SPDX-License-Identifier: MIT */
/* Sequence headers: ITU-T H.264, 7.3.2.1.1; ITU-T H.265, 7.3.2.2.1 and 7.3.3; the specification of AV1,
 * 5.5. */
#include "workloads/video/walk_internal.h"

#include <string.h>

enum { SIDE_MAX = 16384, CHROMA_420 = 1, CHROMA_422 = 2, CHROMA_444 = 3 };

/* The size of H.264 and HEVC, and how much of it is cut off at each side: in steps of the samples of
 * chroma, and of two rows where there are fields. */
static bool read_cropping(struct bits *bits, struct video_walk *walk, uint64_t width,
			  uint64_t height, uint32_t chroma, unsigned fields)
{
	uint64_t sides[4] = {0}; /* left, right, top, bottom */
	const bool cropped = bits_flag(bits);
	for (size_t i = 0; cropped && i < 4; i++)
		sides[i] = bits_read_ue(bits);
	const uint64_t cut_x =
		(sides[0] + sides[1]) * (chroma == CHROMA_420 || chroma == CHROMA_422 ? 2 : 1);
	const uint64_t cut_y = (sides[2] + sides[3]) * (chroma == CHROMA_420 ? 2 : 1) * fields;
	if (width == 0 || height == 0 || width > SIDE_MAX || height > SIDE_MAX || cut_x >= width ||
	    cut_y >= height)
		return false;
	walk->width = (unsigned)(width - cut_x);
	walk->height = (unsigned)(height - cut_y);
	return true;
}

static void skip_scaling_list(struct bits *bits, unsigned count)
{
	uint32_t last = 8, next = 8;
	for (unsigned i = 0; i < count && !bits->overrun; i++) {
		if (next != 0)
			next = (last + (uint32_t)bits_read_se(bits)) & 0xFFu;
		last = next == 0 ? last : next;
	}
}

/* chroma_format_idc, the depth of luma, and what stands behind. */
static uint32_t read_samples(struct bits *bits, struct video_walk *walk)
{
	const uint32_t chroma = bits_read_ue(bits);
	if (chroma == CHROMA_444)
		bits_skip(bits, 1);
	walk->bits = 8 + (bits_read_ue(bits) & 0xFu);
	bits_skip_ue(bits, 1);
	bits_skip(bits, 1);
	const bool scaled = bits_flag(bits);
	for (unsigned i = 0; scaled && i < (chroma == CHROMA_444 ? 12 : 8); i++) {
		if (bits_flag(bits))
			skip_scaling_list(bits, i < 6 ? 16 : 64);
	}
	return chroma;
}

static void skip_order_counts(struct bits *bits)
{
	const uint32_t type = bits_read_ue(bits);
	if (type == 0)
		bits_skip_ue(bits, 1);
	if (type != 1)
		return;
	bits_skip(bits, 1);
	bits_skip_ue(bits, 2);
	bits_skip_ue(bits, bits_read_ue(bits));
}

static bool read_h264(struct bits *bits, struct video_walk *walk)
{
	/* Profiles whose header tells format and depth of samples. */
	static const uint8_t high[] = {100, 110, 122, 244, 44,	83, 86,
				       118, 128, 138, 139, 134, 135};
	uint32_t chroma = CHROMA_420;
	walk->profile = bits_read(bits, 8);
	walk->bits = 8;
	bits_skip(bits, 16); /* constraints, level */
	bits_skip_ue(bits, 1);
	if (memchr(high, (int)walk->profile, sizeof(high)) != NULL)
		chroma = read_samples(bits, walk);
	bits_skip_ue(bits, 1);
	skip_order_counts(bits);
	bits_skip_ue(bits, 1); /* reference frames */
	bits_skip(bits, 1);
	const uint64_t width = ((uint64_t)bits_read_ue(bits) + 1) * 16;
	const uint64_t units = (uint64_t)bits_read_ue(bits) + 1;
	const unsigned fields = bits_flag(bits) ? 1 : 2;
	bits_skip(bits, fields); /* adaption of fields, direct_8x8_inference */
	return read_cropping(bits, walk, width, units * 16 * fields, chroma, fields) &&
	       !bits->overrun;
}

/* profile_tier_level(): 88 bits of the profile, 8 of the level, and those of the sub-layers. */
static void read_profile(struct bits *bits, unsigned sub_layers, struct video_walk *walk)
{
	unsigned told = 0; /* bits of all sub-layers */
	bits_skip(bits, 3);
	walk->profile = bits_read(bits, 5);
	bits_skip(bits, 80 + 8);
	for (unsigned i = 0; i < sub_layers; i++) {
		told += bits_flag(bits) ? 88 : 0;
		told += bits_flag(bits) ? 8 : 0;
	}
	bits_skip(bits, (sub_layers > 0 ? 2 * (8 - sub_layers) : 0) + told);
}

static bool read_hevc(struct bits *bits, struct video_walk *walk)
{
	bits_skip(bits, 4);
	const unsigned sub_layers = bits_read(bits, 3);
	bits_skip(bits, 1);
	read_profile(bits, sub_layers, walk);
	bits_skip_ue(bits, 1);
	const uint32_t chroma = bits_read_ue(bits);
	if (chroma == CHROMA_444)
		bits_skip(bits, 1);
	const uint64_t width = bits_read_ue(bits);
	const uint64_t height = bits_read_ue(bits);
	const bool sized = read_cropping(bits, walk, width, height, chroma, 1);
	walk->bits = 8 + (bits_read_ue(bits) & 0xFu);
	return sized && !bits->overrun;
}

/* timing_info() and decoder_model_info(). Returns buffer_delay_length, 0 without a model. */
static unsigned read_timing(struct bits *bits)
{
	bits_skip(bits, 64);
	if (bits_flag(bits))
		bits_skip_ue(bits, 1);
	if (!bits_flag(bits))
		return 0;
	const unsigned length = bits_read(bits, 5) + 1;
	bits_skip(bits, 32 + 5 + 5);
	return length;
}

static void skip_operating_points(struct bits *bits)
{
	const unsigned delay_bits = bits_flag(bits) ? read_timing(bits) : 0;
	const bool delays = bits_flag(bits);
	const unsigned points = bits_read(bits, 5) + 1;
	for (unsigned i = 0; i < points && !bits->overrun; i++) {
		bits_skip(bits, 12);
		if (bits_read(bits, 5) > 7)
			bits_skip(bits, 1);
		if (delay_bits != 0 && bits_flag(bits))
			bits_skip(bits, 2 * delay_bits + 1);
		if (delays && bits_flag(bits))
			bits_skip(bits, 4);
	}
}

/* What of enabled tools stands between the size and color_config(). */
static void skip_tools(struct bits *bits, bool reduced)
{
	if (!reduced && bits_flag(bits))
		bits_skip(bits, 4 + 3); /* lengths of frame ids */
	bits_skip(bits, 3);
	if (reduced)
		return;
	bits_skip(bits, 4);
	const bool order_hint = bits_flag(bits);
	bits_skip(bits, order_hint ? 2 : 0);
	const bool choose_screen = bits_flag(bits);
	if ((choose_screen || bits_flag(bits)) && !bits_flag(bits))
		bits_skip(bits, 1);
	bits_skip(bits, order_hint ? 3 : 0);
}

static bool read_av1(struct bits *bits, struct video_walk *walk)
{
	walk->profile = bits_read(bits, 3);
	bits_skip(bits, 1);
	walk->reduced = bits_flag(bits);
	if (walk->reduced)
		bits_skip(bits, 5);
	else
		skip_operating_points(bits);
	const unsigned width_bits = bits_read(bits, 4) + 1;
	const unsigned height_bits = bits_read(bits, 4) + 1;
	walk->width = bits_read(bits, width_bits) + 1;
	walk->height = bits_read(bits, height_bits) + 1;
	skip_tools(bits, walk->reduced);
	bits_skip(bits, 3); /* superres, cdef, restoration */
	const bool high = bits_flag(bits);
	const bool twelve = walk->profile == 2 && high && bits_flag(bits);
	walk->bits = twelve ? 12 : high ? 10 : 8;
	return !bits->overrun;
}

walk_header *const walk_headers[VIDEO_CODECS] = {
	[VIDEO_H264] = read_h264,
	[VIDEO_HEVC] = read_hevc,
	[VIDEO_AV1] = read_av1,
};
