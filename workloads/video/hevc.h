/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The parameter sets of HEVC (ITU-T H.265, 7.3.2.1 to 7.3.2.3) for APIs which leave them to their
 * caller: frames of 4:2:0 and 8 bits, one layer, one slice each; a picture that is not a key frame
 * (IDR) refers to the one before, whose order count is one less.
 */

#include "workloads/video/frames.h"
#include "workloads/video/unit.h"

#include <stdbool.h>

enum {
	HEVC_ORDER_BITS = 8, /* of slice_pic_order_cnt_lsb */
	HEVC_MIDDLE_QP = 26, /* init_qp_minus26 counts from here */
	HEVC_SLICE_B = 0,    /* slice_type */
	HEVC_SLICE_P = 1,
	HEVC_SLICE_I = 2,
	HEVC_TRAIL_R = 1, /* nal_unit_type */
	HEVC_IDR_W_RADL = 19,
};

/* Sizes of blocks are logarithms to base 2. */
struct hevc_sets {
	unsigned profile, level; /* general_profile_idc, general_level_idc */
	bool high_tier;
	unsigned width, height;		   /* coded: at least the shown size */
	unsigned block, tree;		   /* the smallest coding block, a coding tree */
	unsigned transform, transform_max; /* the smallest, the largest */
	unsigned depth_inter, depth_intra; /* max_transform_hierarchy_depth_... */
	bool amp, sao, temporal_mvp;
	unsigned pcm, pcm_max; /* sizes of uncompressed blocks; 0: there are none */
	int quality;	       /* SliceQpY of a slice without a difference */
	bool block_quality;    /* blocks state their own quantisers (cu_qp_delta_enabled_flag) */
	/* Slices state their references, their initial CABAC tables, quantisers of chroma, and whether
	 * filters cross their edges. */
	bool full_slices;
};

/* Begins a NAL unit of layer 0. */
struct unit hevc_unit(unsigned type);

/* Appends VPS, SPS and PPS, all with id 0, each after a start code; `source` has the shown size. */
void hevc_add_sets(const struct hevc_sets *sets, const struct video_source *source,
		   struct text *out);
