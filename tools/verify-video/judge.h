/* SPDX-License-Identifier: MIT */
#pragma once

/* Judges whether an encoded stream shows the frames of a seed. */

#include "base/error.h"
#include "workloads/video/frames.h"
#include "workloads/video/walk.h"

enum judge_status {
	JUDGE_OK,
	JUDGE_WRONG,	   /* it decodes to something else */
	JUDGE_UNDECODABLE, /* it does not decode */
};

extern const char *const judge_status_names[];

struct judgement {
	enum judge_status status;
	char reason[ERROR_TEXT_SIZE];	 /* "" with JUDGE_OK */
	struct video_walk walk;		 /* up to the first error */
	size_t frames;			 /* decoded */
	double psnr[VIDEO_FRAMES];	 /* of each frame the lowest of its planes, in dB */
	double psnr_other[VIDEO_FRAMES]; /* of luma, against frames of another seed */
};

/* The stream must hold the frames 0 to VIDEO_FRAMES - 1 of `source`, each once and in order, at
 * VIDEO_LIKE_DB or more in every plane, and below VIDEO_UNLIKE_DB from those of another seed. A stream
 * that its units or its size rule out is not decoded. ERROR_MEMORY: a decoder's. */
int judge_stream(enum video_codec codec, const uint8_t *data, size_t size,
		 const struct video_source *source, struct judgement *judgement, struct error *err);
