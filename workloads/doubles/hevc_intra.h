/* SPDX-License-Identifier: MIT */
#pragma once

/* HEVC without PCM: each coding unit is predicted from the mean of its neighbours, and what differs is
 * transformed and quantised as finely as there is, in slices of any kind. What decodes it has the
 * frame but for a sample here and there. */

#include "workloads/video/frames.h"

#include "base/text.h"

#include <stdbool.h>

enum { HEVC_INTRA_QUALITY = 0 /* SliceQpY */ };

struct hevc_intra {
	unsigned width, height; /* whole coding trees */
	struct video_size shown;
	unsigned tree,
		block;	/* log2 of a coding tree, and of the smallest block: 8 to 32 samples */
	unsigned depth; /* max_transform_hierarchy_depth_intra */
	unsigned slice_type;
};

/* `header`: of the slice, with its start code of four bytes and up to its byte_alignment(). Blocks tell
 * quantisers (cu_qp_delta_enabled_flag), one in a tree, and there are no offsets (SAO). `frame` is I420. */
void hevc_intra_add(const struct hevc_intra *shape, const struct video_planes *frame,
		    const struct text *header, struct text *stream);
