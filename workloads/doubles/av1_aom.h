/* SPDX-License-Identifier: MIT */
#pragma once

/* AV1 under headers that are the caller's: what doubles of encoders code tiles with. libaom codes, and is
 * set up so that it writes a header of the same meaning; where its header says anything else, there is no
 * tile. So a stream of it decodes to the caller's frames with right headers alone. */

#include "workloads/video/av1.h"
#include "workloads/video/frames.h"

#include <aom/aom_codec.h>

struct av1_aom {
	bool open;
	aom_codec_ctx_t codec;
	aom_codec_pts_t count; /* of frames */
};

/* Codes a frame (I420, of the sequence's size) and appends its tile. A key frame is the first. References
 * are LAST_FRAME alone, whose probabilities are taken over, and a frame that is predicted goes to one slot.
 * Quantisers are multiples of 4, from 128 on. False: libaom does not code it so. */
bool av1_aom_encode(struct av1_aom *coder, const struct av1_sequence *sequence,
		    const struct av1_frame *frame, const struct video_planes *planes,
		    struct text *tile);
void av1_aom_close(struct av1_aom *coder);
