/* SPDX-License-Identifier: MIT */
#pragma once

/* Lossless AV1 (base_q_idx 0, no differences), for doubles of encoders without libaom. A frame of 64 by 64
 * is one block; each 4 by 4 samples are predicted from the mean of their neighbours, both in key frames
 * and in inter frames. */

#include "workloads/doubles/av1_symbols.h"
#include "workloads/video/frames.h"

#include <stdbool.h>

enum { AV1_LOSSLESS_SIDE = 64 };

/* The adaptive tables: 32768 times cumulative probabilities. */
struct av1_tables {
	av1_cdf partition, skip, key_mode, mode, chroma_mode, inter;
	av1_cdf all_zero[13], ends[2], ends_extra[2][3], dc_sign[2][3];
	av1_cdf last[2][4], base[2][16], more[2][21];
};

/* Appends the tile of a frame (I420), with superblocks of 64 by 64. With `begin`, for frames whose
 * primary_ref_frame is none, the tables are the default ones, otherwise those after the previous frame. */
void av1_lossless_add(struct av1_tables *tables, bool key, bool begin,
		      const struct video_planes *frame, struct text *tile);
