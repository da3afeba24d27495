/* SPDX-License-Identifier: MIT */
#pragma once

/* AV1 of which nothing is lost (base_q_idx 0, no differences): what doubles of encoders code where there
 * is no libaom. A frame of 64 by 64 is one block, each 4 by 4 samples of which are predicted from the mean
 * of their neighbours, in key frames and in inter frames alike. */

#include "workloads/doubles/av1_symbols.h"
#include "workloads/video/frames.h"

#include <stdbool.h>

enum { AV1_LOSSLESS_SIDE = 64 };

/* The tables that change while a frame is coded: 32768 times sums of likelihoods. */
struct av1_tables {
	av1_cdf partition, skip, key_mode, mode, chroma_mode, inter;
	av1_cdf all_zero[13], ends[2], ends_extra[2][3], dc_sign[2][3];
	av1_cdf last[2][4], base[2][16], more[2][21];
};

/* Appends the tile of a frame (I420), with superblocks of 64 by 64. Where `begin` is set, which is so in
 * frames whose primary_ref_frame is none, the tables are the default ones, otherwise those behind the frame
 * before. */
void av1_lossless_add(struct av1_tables *tables, bool key, bool begin,
		      const struct video_planes *frame, struct text *tile);
