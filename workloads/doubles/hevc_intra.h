/* SPDX-License-Identifier: MIT */
#pragma once

/* HEVC without PCM: each coding unit is predicted from the mean of its neighbours, and the residual is
 * transformed and quantised with the finest step, in slices of any kind. Decoding restores the frame
 * except for a few samples. */

#include "workloads/video/frames.h"

#include "base/text.h"

#include <stdbool.h>

enum { HEVC_INTRA_QUALITY = 0 /* SliceQpY */ };

struct hevc_intra {
	unsigned width, height; /* multiples of a coding tree */
	struct video_size shown;
	unsigned tree,
		block;	/* log2 of a coding tree, and of the smallest block: 8 to 32 samples */
	unsigned depth; /* max_transform_hierarchy_depth_intra */
	unsigned slice_type;
};

/* `header`: of the slice, with its start code of four bytes and up to its byte_alignment(). Blocks state
 * quantisers (cu_qp_delta_enabled_flag), one in a tree, and there are no offsets (SAO). `frame` is I420. */
void hevc_intra_add(const struct hevc_intra *shape, const struct video_planes *frame,
		    const struct text *header, struct text *stream);
