/* SPDX-License-Identifier: MIT */
#pragma once

/* The decoders: OpenH264, libde265 and dav1d, each on one thread. They are given what an untrusted
 * encoder made. */

#include "base/error.h"
#include "workloads/video/frames.h"
#include "workloads/video/walk.h"

/* A frame in the order in which frames are shown. */
struct decoded_frame {
	struct video_planes planes; /* the decoder's own memory */
	unsigned width, height;
	bool usual; /* its samples are of 8 bits and 4:2:0 */
};

/* Takes frames; an error ends the decoding and becomes its result. */
struct frame_sink {
	int (*take)(void *user, const struct decoded_frame *frame, struct error *err);
	void *user;
};

/* Decodes a whole stream. ERROR_FORMAT: the decoder does not take it. ERROR_MEMORY: no decoder could be
 * made. */
typedef int decode_function(const uint8_t *data, size_t size, const struct frame_sink *sink,
			    struct error *err);

decode_function decode_h264, decode_hevc, decode_av1;
