/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The encoder of the doubles: H.264 whose macroblocks carry raw samples (I_PCM), so that a stream
 * really contains the caller's pixels. Every picture is a key frame; 1.5 bytes a pixel.
 *
 * Its faults, from GPUCERT_DOUBLE (settings.h), where N is the number of a frame:
 *
 *   drop=N      the frame is left out
 *   repeat=N    it repeats the frame before
 *   black=N     it is black
 *   corrupt=N   the second half of its bytes is changed
 *   cut=N       its second half is missing
 *   other=SEED  each frame is that of another seed
 *   size        the header states another size
 *   empty       there is no output
 */

#include "base/text.h"
#include "workloads/video/frames.h"

#include <stdbool.h>
#include <stdint.h>

/* A slice that the caller describes. */
struct h264_slice {
	bool predicted;		/* P, not IDR, but its macroblocks are I_PCM */
	unsigned number, order; /* frame_num, pic_order_cnt_lsb */
};

struct h264_pcm {
	struct video_source source; /* its size; the seed is not used */
	unsigned count;		    /* of frames so far */
	struct text last;	    /* the samples of the frame before, I420 */
	/* The caller's parameter sets, which replace the double's; the numbers of bits of their
	 * frame_num and pic_order_cnt_lsb follow. NULL: the double's own. */
	const struct text *given;
	unsigned number_bits, order_bits;
	struct h264_slice slice; /* the next picture's; unused with the double's own sets */
	/* Appends a picture of another codec, with the caller's parameter sets. NULL: H.264. */
	void (*put)(const struct h264_pcm *writer, const struct video_planes *frame,
		    struct text *stream);
	void *user;
};

/* A NAL unit under construction. */
struct h264_bits {
	struct text bytes;
	unsigned partial; /* bits in the incomplete byte */
	unsigned count;	  /* how many */
};

enum { H264_SPS = 0x67, H264_PPS = 0x68 };

void h264_put_bits(struct h264_bits *out, unsigned value, unsigned count);
void h264_put_ue(struct h264_bits *out, unsigned value);
void h264_align(struct h264_bits *out); /* with zeros */
/* Writes the samples of a block, Y, U and V, after an alignment; size and place are those of luma. */
void h264_put_block(struct h264_bits *out, const struct video_planes *frame, size_t size, size_t x,
		    size_t y);
/* Appends bytes, escaped so that they contain no start code (7.4.1). */
void h264_add_escaped(const char *data, size_t size, struct text *stream);
/* Appends the unit after a start code. */
void h264_end_unit(struct h264_bits *out, uint8_t head, struct text *stream);

/* Appends a frame (I420 or NV12), the first after the parameter sets. */
void h264_pcm_add(struct h264_pcm *writer, enum video_layout layout,
		  const struct video_planes *frame, struct text *stream);
void h264_pcm_free(struct h264_pcm *writer);
