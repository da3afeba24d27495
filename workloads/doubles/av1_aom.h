/* SPDX-License-Identifier: MIT */
#pragma once

/* AV1 tiles under the caller's headers, for doubles of encoders. libaom codes them, set up so that its
 * own header has the same meaning; if its header differs, there is no tile. So a stream decodes to the
 * caller's frames only with correct headers. */

#include "workloads/video/av1.h"
#include "workloads/video/frames.h"

#include <aom/aom_codec.h>

struct av1_aom {
	bool open;
	aom_codec_ctx_t codec;
	aom_codec_pts_t count; /* number of frames */
};

/* Codes a frame (I420, of the sequence's size) and appends its tile. A key frame is the first. The only
 * reference is LAST_FRAME, whose probabilities are inherited, and a predicted frame is stored in one slot.
 * Quantisers are multiples of 4, from 128 on. False: libaom does not code it like this. */
bool av1_aom_encode(struct av1_aom *coder, const struct av1_sequence *sequence,
		    const struct av1_frame *frame, const struct video_planes *planes,
		    struct text *tile);
void av1_aom_close(struct av1_aom *coder);
