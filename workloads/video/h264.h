/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The H.264 stream that probes request from APIs which leave its description to their caller, and
 * its parameter sets (ITU-T H.264, 7.3.2.1.1 and 7.3.2.2): frames only, 4:2:0 of 8 bits, one slice
 * each, without CABAC. The first picture is a key frame, each other one refers to the one before, and
 * frame_num is the number of the frame.
 */

#include "base/text.h"
#include "workloads/video/frames.h"

enum {
	H264_MACROBLOCK = 16,
	H264_FRAME_NUMBER_BITS = 8, /* of frame_num */
	H264_ORDER_BITS = 8,	    /* of pic_order_cnt_lsb */
	H264_LEVEL = 30,	    /* 720 by 576 at 25 frames a second */
	H264_PROFILE_BASELINE = 66,
	H264_PROFILE_MAIN = 77,
	H264_PROFILE_HIGH = 100,
};

struct h264_sequence {
	unsigned profile;     /* profile_idc: H264_PROFILE_... */
	unsigned constraints; /* the next eight bits: constraint_set0_flag is 0x80 */
	unsigned level;	      /* level_idc: 30 */
};

/* The length of a side in macroblocks. */
static inline unsigned h264_blocks(unsigned samples)
{
	return samples / H264_MACROBLOCK;
}

/* The order count of a picture: its fields have two. */
static inline int32_t h264_order(unsigned index)
{
	return 2 * (int32_t)index;
}

/* Append a sequence parameter set and a picture parameter set, both with id 0, each after a start
 * code. */
void h264_add_sequence(const struct h264_sequence *sequence, const struct video_source *source,
		       struct text *out);
void h264_add_picture(struct text *out);
