/* SPDX-License-Identifier: MIT */
#pragma once

/* The decoders: OpenH264, libde265 and dav1d, each on one thread. Their input comes from an untrusted
 * encoder. */

#include "base/error.h"
#include "workloads/video/frames.h"
#include "workloads/video/walk.h"

/* A frame, in display order. */
struct decoded_frame {
	struct video_planes planes; /* the decoder's own memory */
	unsigned width, height;
	bool usual; /* samples of 8 bits, 4:2:0 */
};

/* Receives frames; an error ends the decoding and becomes its result. */
struct frame_sink {
	int (*take)(void *user, const struct decoded_frame *frame, struct error *err);
	void *user;
};

/* Decodes a whole stream. ERROR_FORMAT: the decoder refuses it. ERROR_MEMORY: no decoder could be
 * created. */
typedef int decode_function(const uint8_t *data, size_t size, const struct frame_sink *sink,
			    struct error *err);

decode_function decode_h264, decode_hevc, decode_av1;
