/* SPDX-License-Identifier: MIT */
#pragma once

#include "workloads/video/bits.h"
#include "workloads/video/walk.h"

/* A sequence header of each codec, without the bytes that tell its kind: fills size, profile, bits and
 * `reduced`. False: it makes no sense. */
typedef bool walk_header(struct bits *bits, struct video_walk *walk);
extern walk_header *const walk_headers[VIDEO_CODECS];
