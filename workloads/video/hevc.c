/* SPDX-License-Identifier: MIT */
#include "workloads/video/hevc.h"

enum { VPS = 32, SPS = 33, PPS = 34 };

struct unit hevc_unit(unsigned type)
{
	struct unit unit = {{0}, 0};

	unit_put(&unit, type << 1, 7 + 1); /* forbidden_zero_bit, type, layer 0 */
	unit_put(&unit, 1, 5 + 3);	   /* temporal id 0 */
	return unit;
}

/* 7.3.3: compatible with itself and with Main 10. */
static void put_profile(struct unit *unit, const struct hevc_sets *sets)
{
	unit_put(unit, sets->high_tier, 2 + 1);
	unit_put(unit, sets->profile, 5);
	unit_put(unit, 0x60000000, 32);
	unit_put(unit, 0xB, 4); /* progressive, not interlaced, not packed, frames */
	unit_put(unit, 0, 32);
	unit_put(unit, 0, 43 + 1 - 32);
	unit_put(unit, sets->level, 8);
}

/* Two pictures are kept, the current one and its reference, and pictures are not reordered. */
static void put_buffering(struct unit *unit)
{
	unit_put(unit, 1, 1);
	unit_put_ue(unit, 1);
	unit_put_ue(unit, 0);
	unit_put_ue(unit, 0);
}

static void add_sequence_set(const struct hevc_sets *sets, const struct video_source *source,
			     struct text *out)
{
	struct unit unit = hevc_unit(SPS);

	unit_put(&unit, 1, 4 + 3 + 1);
	put_profile(&unit, sets);
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, 1); /* 4:2:0 */

	/* The size: the shown part lies at the top left of the coded one. */
	const unsigned right = sets->width - source->width;
	const unsigned bottom = sets->height - source->height;
	unit_put_ue(&unit, sets->width);
	unit_put_ue(&unit, sets->height);
	unit_put(&unit, right + bottom > 0, 1);
	if (right + bottom > 0) {
		unit_put_ue(&unit, 0);
		unit_put_ue(&unit, right / 2);
		unit_put_ue(&unit, 0);
		unit_put_ue(&unit, bottom / 2);
	}

	unit_put_ue(&unit, 0); /* 8 bits of luma and of chroma */
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, HEVC_ORDER_BITS - 4);
	put_buffering(&unit);

	/* The coding tools. */
	unit_put_ue(&unit, sets->block - 3);
	unit_put_ue(&unit, sets->tree - sets->block);
	unit_put_ue(&unit, sets->transform - 2);
	unit_put_ue(&unit, sets->transform_max - sets->transform);
	unit_put_ue(&unit, sets->depth_inter);
	unit_put_ue(&unit, sets->depth_intra);
	unit_put(&unit, sets->amp, 1 + 1); /* no scaling lists */
	unit_put(&unit, sets->sao, 1);
	unit_put(&unit, sets->pcm != 0, 1);
	if (sets->pcm != 0) {
		unit_put(&unit, 7, 4); /* 8 bits of luma and of chroma */
		unit_put(&unit, 7, 4);
		unit_put_ue(&unit, sets->pcm - 3);
		unit_put_ue(&unit, sets->pcm_max - sets->pcm);
		unit_put(&unit, 1, 1); /* not filtered */
	}

	/* One reference set, the picture before; full slices state their own. */
	unit_put_ue(&unit, !sets->full_slices);
	if (!sets->full_slices) {
		unit_put_ue(&unit, 1);
		unit_put_ue(&unit, 0);
		unit_put_ue(&unit, 0);
		unit_put(&unit, 1, 1);
	}
	unit_put(&unit, 0, 1); /* no long-term references */
	unit_put(&unit, sets->temporal_mvp, 1);
	unit_put(&unit, 0, 1 + 1 + 1); /* no strong smoothing, no VUI, no extension */
	unit_end(&unit, out);
}

void hevc_add_sets(const struct hevc_sets *sets, const struct video_source *source,
		   struct text *out)
{
	struct unit video = hevc_unit(VPS);
	unit_put(&video, 3, 4 + 2); /* id 0; the base layer is present */
	unit_put(&video, 1, 6 + 3 + 1);
	unit_put(&video, 0xFFFF, 16);
	put_profile(&video, sets);
	put_buffering(&video);
	unit_put(&video, 0, 6);
	unit_put_ue(&video, 0);
	unit_put(&video, 0, 1 + 1); /* no timing, no extension */
	unit_end(&video, out);

	add_sequence_set(sets, source, out);

	struct unit unit = hevc_unit(PPS);
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, 0);
	unit_put(&unit, 0, 1 + 1 + 3); /* no dependent slices, no output flag, no more bits */
	unit_put(&unit, sets->full_slices, 1 + 1); /* no hidden signs; cabac_init_present_flag */
	unit_put_ue(&unit, 0);			   /* one reference in each list */
	unit_put_ue(&unit, 0);
	unit_put_se(&unit, sets->quality - HEVC_MIDDLE_QP);
	unit_put(&unit, 0, 1 + 1); /* blocks predicted and transformed as usual */
	unit_put(&unit, sets->block_quality, 1);
	if (sets->block_quality)
		unit_put_ue(&unit, 0); /* one quantiser in each coding tree */
	unit_put_se(&unit, 0);
	unit_put_se(&unit, 0);
	unit_put(&unit, sets->full_slices, 1); /* offsets of chroma */
	unit_put(&unit, 0, 2 + 1 + 2);	       /* no weights, bypass, tiles, wavefronts */
	unit_put(&unit, sets->full_slices, 1); /* filters across slices */
	unit_put(&unit, sets->full_slices, 1); /* control of deblocking, which stays on */
	if (sets->full_slices) {
		unit_put(&unit, 0, 1 + 1);
		unit_put_se(&unit, 0);
		unit_put_se(&unit, 0);
	}
	unit_put(&unit, 0, 1 + 1); /* no scaling lists, no other lists of references */
	unit_put_ue(&unit, 0);
	unit_put(&unit, 0, 1 + 1);
	unit_end(&unit, out);
}
