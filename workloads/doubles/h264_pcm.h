/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What doubles of encoders encode with: H.264 whose macroblocks carry their samples as they are
 * (I_PCM), so that a stream really holds the pixels that the caller gave. Every picture is a key
 * frame of its own; 1.5 bytes a pixel.
 *
 * What it does wrong, from GPUCERT_DOUBLE (settings.h), N being the number of a frame:
 *
 *   drop=N      the frame is left out
 *   repeat=N    it shows the one before
 *   black=N     it is black
 *   corrupt=N   the second half of its bytes is another
 *   cut=N       its bytes end in the middle
 *   other=SEED  each frame is that of another seed
 *   size        the header tells another size
 *   empty       nothing comes out
 */

#include "base/text.h"
#include "workloads/video/frames.h"

#include <stdbool.h>
#include <stdint.h>

/* A slice that the caller describes. */
struct h264_slice {
	bool predicted;		/* P, not IDR: its macroblocks are I_PCM all the same */
	unsigned number, order; /* frame_num, pic_order_cnt_lsb */
};

struct h264_pcm {
	struct video_source source; /* its size; the seed is not looked at */
	unsigned count;		    /* of frames so far */
	struct text last;	    /* the samples of the frame before, I420 */
	/* The caller's parameter sets in place of the double's: how many bits its frame_num and
	 * pic_order_cnt_lsb have. NULL: the double's own. */
	const struct text *given;
	unsigned number_bits, order_bits;
	struct h264_slice
		slice; /* of the next picture; of the double's own sets it is not looked at */
	/* Appends a picture of another codec, whose parameter sets are given. NULL: H.264. */
	void (*put)(const struct h264_pcm *writer, const struct video_planes *frame,
		    struct text *stream);
	void *user;
};

/* A NAL unit in the making: bits, ue(v), and what it becomes in a stream. */
struct h264_bits {
	struct text bytes;
	unsigned partial; /* bits of the byte that is begun */
	unsigned count;	  /* how many */
};

enum { H264_SPS = 0x67, H264_PPS = 0x68 };

void h264_put_bits(struct h264_bits *out, unsigned value, unsigned count);
void h264_put_ue(struct h264_bits *out, unsigned value);
void h264_align(struct h264_bits *out); /* with zeros */
/* The samples of a block, Y, U and V, behind an alignment; size and place are those of luma. */
void h264_put_block(struct h264_bits *out, const struct video_planes *frame, size_t size, size_t x,
		    size_t y);
/* The bytes so that there is no start code inside (7.4.1). */
void h264_add_escaped(const char *data, size_t size, struct text *stream);
/* The unit with a start code. */
void h264_end_unit(struct h264_bits *out, uint8_t head, struct text *stream);

/* Appends a frame (I420 or NV12), in front of the first the parameter sets. */
void h264_pcm_add(struct h264_pcm *writer, enum video_layout layout,
		  const struct video_planes *frame, struct text *stream);
void h264_pcm_free(struct h264_pcm *writer);
