/* SPDX-License-Identifier: MIT */
#pragma once

/* The decoders: OpenH264, libde265 and dav1d, each on one thread. They are given what an untrusted
 * encoder made. */

#include "base/error.h"
#include "workloads/video/frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame in the order in which frames are shown. */
struct decoded_frame {
	struct video_planes planes; /* 4:2:0; the decoder's own memory */
	unsigned width, height;
};

/* Takes a frame; an error ends the decoding and becomes its result. */
typedef int frame_sink(void *user, const struct decoded_frame *frame, struct error *err);

/* Decode a whole stream. ERROR_FORMAT: the decoder does not take it, or its samples are not of
 * 8 bits and 4:2:0. ERROR_MEMORY: no decoder could be made. */
int decode_h264(const uint8_t *data, size_t size, frame_sink *sink, void *user, struct error *err);
int decode_hevc(const uint8_t *data, size_t size, frame_sink *sink, void *user, struct error *err);
int decode_av1(const uint8_t *data, size_t size, frame_sink *sink, void *user, struct error *err);
