/* SPDX-License-Identifier: MIT */
#pragma once

/* HEVC whose coding units carry raw samples (pcm_flag), in slices of any kind; a double of an encoder
 * appends this to a slice header. */

#include "workloads/video/frames.h"

#include "base/text.h"

#include <stdbool.h>

struct hevc_pcm {
	unsigned width, height; /* multiples of a coding tree */
	unsigned tree, block,
		pcm; /* log2 of a coding tree, the smallest block, the largest of PCM */
	unsigned slice_type, quality; /* slice_type, SliceQpY */
	bool sao;		      /* each tree states that it has none */
};

/* `header`: of the slice, with its start code of four bytes and up to its byte_alignment(). */
void hevc_pcm_add(const struct hevc_pcm *shape, const struct video_planes *frame,
		  const struct text *header, struct text *stream);
