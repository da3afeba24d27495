/* SPDX-License-Identifier: MIT */
#pragma once

#include "workloads/video/bits.h"
#include "workloads/video/walk.h"

/* A sequence header without the bytes that tell its kind: fills size, profile and bits. False: it
 * makes no sense. */
bool walk_h264_header(struct bits *bits, struct video_walk *walk);
bool walk_hevc_header(struct bits *bits, struct video_walk *walk);

/* The whole of a stream of the other kind. */
int walk_av1(const uint8_t *data, size_t size, struct video_walk *walk, struct error *err);
