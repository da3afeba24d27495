/* SPDX-License-Identifier: MIT */
/* Sequence parameter sets: ITU-T H.264, 7.3.2.1.1, and ITU-T H.265, 7.3.2.2.1 and 7.3.3. */
#include "workloads/video/walk_internal.h"

enum { SIDE_MAX = 16384, CHROMA_420 = 1 };

static bool set_size(struct video_walk *walk, uint64_t width, uint64_t height, uint64_t cut_x,
		     uint64_t cut_y)
{
	if (width == 0 || height == 0 || width > SIDE_MAX || height > SIDE_MAX || cut_x >= width ||
	    cut_y >= height)
		return false;
	walk->width = (unsigned)(width - cut_x);
	walk->height = (unsigned)(height - cut_y);
	return true;
}

/* Profiles whose header tells format and depth of samples. */
static bool is_high(unsigned profile)
{
	static const unsigned char high[] = {100, 110, 122, 244, 44,  83, 86,
					     118, 128, 138, 139, 134, 135};
	for (size_t i = 0; i < sizeof(high); i++) {
		if (high[i] == profile)
			return true;
	}
	return false;
}

static void skip_scaling_list(struct bits *bits, unsigned count)
{
	int32_t last = 8, next = 8;
	for (unsigned i = 0; i < count && !bits->overrun; i++) {
		if (next != 0)
			next = (int32_t)(((uint32_t)last + (uint32_t)bits_read_se(bits)) & 0xFFu);
		last = next == 0 ? last : next;
	}
}

/* chroma_format_idc, the depth of luma, and what stands behind. */
static uint32_t read_samples(struct bits *bits, struct video_walk *walk)
{
	const uint32_t chroma = bits_read_ue(bits);
	if (chroma == 3)
		bits_skip(bits, 1);
	walk->bits = 8 + (bits_read_ue(bits) & 0xFu);
	(void)bits_read_ue(bits);
	bits_skip(bits, 1);
	if (bits_read(bits, 1) == 0)
		return chroma;
	for (unsigned i = 0; i < (chroma == 3 ? 12 : 8); i++) {
		if (bits_read(bits, 1) == 1)
			skip_scaling_list(bits, i < 6 ? 16 : 64);
	}
	return chroma;
}

static void skip_order_counts(struct bits *bits)
{
	const uint32_t type = bits_read_ue(bits);
	if (type == 0)
		(void)bits_read_ue(bits);
	if (type != 1)
		return;
	bits_skip(bits, 1);
	(void)bits_read_se(bits);
	(void)bits_read_se(bits);
	const uint32_t count = bits_read_ue(bits);
	for (uint32_t i = 0; i < count && !bits->overrun; i++)
		(void)bits_read_se(bits);
}

bool walk_h264_header(struct bits *bits, struct video_walk *walk)
{
	uint32_t chroma = CHROMA_420;
	uint64_t cut_x = 0, cut_y = 0;
	walk->profile = bits_read(bits, 8);
	bits_skip(bits, 16); /* constraints, level */
	(void)bits_read_ue(bits);
	walk->bits = 8;
	if (is_high(walk->profile))
		chroma = read_samples(bits, walk);
	(void)bits_read_ue(bits);
	skip_order_counts(bits);
	(void)bits_read_ue(bits); /* reference frames */
	bits_skip(bits, 1);
	const uint64_t width = ((uint64_t)bits_read_ue(bits) + 1) * 16;
	const uint64_t units = (uint64_t)bits_read_ue(bits) + 1;
	const uint32_t frames_only = bits_read(bits, 1);
	if (frames_only == 0)
		bits_skip(bits, 1);
	bits_skip(bits, 1);
	if (bits_read(bits, 1) == 1) {
		const unsigned step_x = chroma == 1 || chroma == 2 ? 2 : 1;
		const unsigned step_y = (chroma == 1 ? 2 : 1) * (2 - frames_only);
		cut_x = bits_read_ue(bits);
		cut_x = (cut_x + bits_read_ue(bits)) * step_x;
		cut_y = bits_read_ue(bits);
		cut_y = (cut_y + bits_read_ue(bits)) * step_y;
	}
	return !bits->overrun &&
	       set_size(walk, width, units * 16 * (2 - frames_only), cut_x, cut_y);
}

/* profile_tier_level(): 88 bits of the profile, 8 of the level, and those of the sub-layers. */
static void read_profile(struct bits *bits, unsigned sub_layers, struct video_walk *walk)
{
	bool profile[8] = {false}, level[8] = {false};
	bits_skip(bits, 3);
	walk->profile = bits_read(bits, 5);
	bits_skip(bits, 80 + 8);
	for (unsigned i = 0; i < sub_layers; i++) {
		profile[i] = bits_read(bits, 1) == 1;
		level[i] = bits_read(bits, 1) == 1;
	}
	for (unsigned i = sub_layers; sub_layers > 0 && i < 8; i++)
		bits_skip(bits, 2);
	for (unsigned i = 0; i < sub_layers; i++)
		bits_skip(bits, (profile[i] ? 88u : 0u) + (level[i] ? 8u : 0u));
}

bool walk_hevc_header(struct bits *bits, struct video_walk *walk)
{
	uint64_t cut_x = 0, cut_y = 0;
	bits_skip(bits, 4);
	const unsigned sub_layers = bits_read(bits, 3);
	bits_skip(bits, 1);
	read_profile(bits, sub_layers, walk);
	(void)bits_read_ue(bits);
	const uint32_t chroma = bits_read_ue(bits);
	if (chroma == 3)
		bits_skip(bits, 1);
	const uint64_t width = bits_read_ue(bits);
	const uint64_t height = bits_read_ue(bits);
	if (bits_read(bits, 1) == 1) {
		const unsigned step_x = chroma == 1 || chroma == 2 ? 2 : 1;
		const unsigned step_y = chroma == 1 ? 2 : 1;
		cut_x = bits_read_ue(bits);
		cut_x = (cut_x + bits_read_ue(bits)) * step_x;
		cut_y = bits_read_ue(bits);
		cut_y = (cut_y + bits_read_ue(bits)) * step_y;
	}
	walk->bits = 8 + (bits_read_ue(bits) & 0xFu);
	return !bits->overrun && set_size(walk, width, height, cut_x, cut_y);
}
